import type { ComponentChildren } from "preact"
import { useRef, useState } from "preact/hooks"
import { metrics, refresh, tables, useAnswer } from "../api.ts"
import type { Brand, Session, Summary, Trend } from "../bodies.ts"
import { date, number, percent, time } from "../format.ts"
import { Spark } from "../chart/spark.tsx"
import { Dialog } from "../parts/dialog.tsx"
import { bounds } from "../parts/figure.tsx"
import { Field, Problem, useAction } from "../parts/form.tsx"
import { Screen } from "../parts/frame.tsx"
import { Empty, Failed } from "../parts/state.tsx"
import { Download, WithN } from "../parts/table.tsx"
import { Certainty, Verdict } from "../parts/verdict.tsx"
import { go } from "../route.ts"
import { mayEdit } from "../session.ts"
import { saveBrand, saveDomain } from "./naming.ts"

interface Schedule { brand_id: string; next_check_at: string | null }

export function BrandList({ session, brands }: { session: Session; brands: Brand[] }) {
  const [adding, add] = useState(false)
  const table = useRef<HTMLTableElement>(null)
  const schedules = useAnswer<Schedule[]>(tables("brand_platforms", { select: "brand_id,next_check_at", is_enabled: "is.true", order: "next_check_at" }))
  const nextOf = (brand: Brand) => {
    const at = schedules.data?.find((s) => s.brand_id === brand.id)?.next_check_at
    return at ? time(at) : <span class="soft">{schedules.data ? "not scheduled" : schedules.failure ? "not known" : ""}</span>
  }
  const tools = (
    <div class="line">
      {brands.length > 0 && <Download name="Brands" file="brands.csv" table={table} />}
      {mayEdit(session) && (
        <button type="button" class="button primary" onClick={() => add(true)}>
          Add brand
        </button>
      )}
    </div>
  )
  return (
    <Screen name="Brands" of="The last 30 days" tools={tools}>
      <section class="card">
        {brands.length === 0 ? (
          <Empty title="No brands yet">A brand is what you track: its name, its domains, and the prompts that AI platforms are asked about it.</Empty>
        ) : (
          <div class="scroll" tabIndex={0} role="region" aria-label="Brands, scrollable">
            <table aria-label="Brands" ref={table}>
              <thead>
                <tr>
                  <th scope="col">Brand</th>
                  <th scope="col" class="number">Visibility rate</th>
                  <th scope="col" class="number">n</th>
                  <th scope="col" class="long">Did the score move?</th>
                  <th scope="col">Trend</th>
                  <th scope="col">Last answers</th>
                  <th scope="col" class="roomy">Next run</th>
                </tr>
              </thead>
              <tbody>
                {brands.map((brand) => (
                  <Row key={brand.id} brand={brand} next={nextOf(brand)} />
                ))}
              </tbody>
            </table>
          </div>
        )}
        {brands.length > 0 && (
          <div class="inside">
            <Certainty />
          </div>
        )}
      </section>
      {adding && <AddBrand session={session} onClose={() => add(false)} />}
    </Screen>
  )
}

function Row({ brand, next }: { brand: Brand; next: ComponentChildren }) {
  const now = useAnswer<Summary>(metrics("visibility-summary", { brand_id: brand.id }))
  const trend = useAnswer<Trend>(metrics("visibility-trend", { brand_id: brand.id }))
  const failure = now.failure ?? trend.failure
  return (
    <tr>
      <th scope="row">
        <a href={`/brands/${encodeURIComponent(brand.slug)}`}>{brand.name}</a>
      </th>
      {failure ? (
        <td colSpan={5}>
          <Failed message={failure.message} />
        </td>
      ) : (
        <Figures now={now.data} trend={trend.data} />
      )}
      <td class="roomy">{next}</td>
    </tr>
  )
}

// Figures are the cells that show how a brand does; what is not there yet is empty.
function Figures({ now, trend }: { now?: Summary; trend?: Trend }) {
  const last = trend?.buckets.at(-1)
  return (
    <>
      <td class="number">{now && <WithN text={percent(now.totals.mentionRatePct)} beside={bounds(now.totals.mentionRateInterval, "%")} />}</td>
      <td class="number">{now && number(now.totals.resultCount)}</td>
      <td class="long">{now && <Verdict change={now.totals.change} from={now.window.date_from} rows={1} />}</td>
      <td>{trend && <Spark values={trend.buckets.map((b) => b.mention_rate_pct)} ranges={trend.buckets.map((b) => b.mention_rate_interval)} domain={[0, 100]} label="Visibility rate per day" />}</td>
      <td>{trend && (last ? date(last.date) : "No answers yet")}</td>
    </>
  )
}

function AddBrand({ session, onClose }: { session: Session; onClose: () => void }) {
  const [name, setName] = useState("")
  const [domain, setDomain] = useState("")
  const [made, make] = useState<Brand>() // its domain may be refused
  const { busy, failed, run } = useAction()
  const submit = (event: Event) => {
    event.preventDefault()
    void run(async () => {
      const brand = await saveBrand(session, made, name)
      make(brand)
      refresh()
      await saveDomain(brand, undefined, domain)
      onClose()
      go(`/brands/${encodeURIComponent(brand.slug)}/prompts`)
    })
  }
  return (
    <Dialog title="Add brand" onClose={onClose}>
      <form onSubmit={submit}>
        <Field label="Brand name" value={name} onInput={setName} required />
        <Field label="Domain" value={domain} onInput={setDomain} hint="Such as example.com: citations of its pages count as the brand's." />
        <Problem text={failed} />
        <div class="actions">
          <button type="button" class="button" onClick={onClose}>
            Cancel
          </button>
          <button class="button primary" disabled={busy}>
            Add brand
          </button>
        </div>
      </form>
    </Dialog>
  )
}
