import { useState } from "preact/hooks"
import { metrics, refresh, useAnswer } from "../api.ts"
import type { Brand, BrandsOverview, OverviewBrand, Session } from "../bodies.ts"
import { Chip, signed } from "../chart/chip.tsx"
import { Spark } from "../chart/spark.tsx"
import { date, daysBefore, daysOf, inColumn, money, number, percent, plural, shift, shortDate, time } from "../format.ts"
import { FormDialog } from "../parts/dialog.tsx"
import { bounds } from "../parts/figure.tsx"
import { Button, Field } from "../parts/form.tsx"
import { Screen } from "../parts/frame.tsx"
import { Segments } from "../parts/segments.tsx"
import { Empty, Shown } from "../parts/state.tsx"
import { Strip } from "../parts/strip.tsx"
import { Table, WithN } from "../parts/table.tsx"
import { Certainty, finding } from "../parts/verdict.tsx"
import { go, query, withParameters } from "../route.ts"
import { mayEdit } from "../session.ts"
import { domainHint, saveBrand, saveDomain } from "./naming.ts"

const sparkDays = 28

export function BrandList({ session, brands }: { session: Session; brands: Brand[] }) {
  const [adding, add] = useState(false)
  const { sort_by, order } = Object.fromEntries(query.value)
  const overview = useAnswer<BrandsOverview>(brands.length > 0 ? metrics("brands-overview", { sort_by, order }) : null)
  const tools = mayEdit(session) && (
    <Button kind="primary" onClick={() => add(true)}>
      Add brand
    </Button>
  )
  return (
    <Screen name="Brands" tools={tools}>
      {brands.length === 0 ? (
        <Empty title="No brands yet">A brand is what you track: its name, its domains, and the prompts that AI platforms are asked about it.</Empty>
      ) : (
        <Shown of={overview} height={44 + 40 * brands.length}>
          {(body) => <List body={{ ...body, brands: body.brands.filter((b) => brands.some(({ id }) => id === b.id)) }} />}
        </Shown>
      )}
      {adding && <AddBrand session={session} onClose={() => add(false)} />}
    </Screen>
  )
}

// shown are the filters of the list, by their value in the address.
const shown: { value: string; name: string; count: keyof BrandsOverview["counts"]; has: (brand: OverviewBrand) => boolean }[] = [
  { value: "", name: "All", count: "brands", has: () => true },
  { value: "down", name: "▼ Moved down", count: "moved_down", has: (b) => b.change.verdict === "moved_down" },
  { value: "up", name: "▲ Moved up", count: "moved_up", has: (b) => b.change.verdict === "moved_up" },
  { value: "late", name: "Late", count: "late", has: (b) => b.late },
]

function List({ body }: { body: BrandsOverview }) {
  const { window, counts } = body
  const filters = counts.brands >= 5
  const filter = (filters && shown.find((f) => f.value === query.value.get("show"))) || shown[0]!
  const apart = query.value.get("scale") === "own"
  const highest = Math.max(1, ...body.brands.map(highestOf))
  const { sort_by, order } = Object.fromEntries(query.value)
  return (
    <div class="stack">
      <div class="headline">
        <h2>{headline(body)}</h2>
      </div>
      {filters && (
        <Segments name="Show brands" parameter="show" options={shown.map((f) => [f.value, `${f.name} ${number(counts[f.count])}`])} />
      )}
      <div class="brands" onKeyDown={moveFocus}>
        <Table
          name="Brands"
          title={`${date(window.date_from)} to ${date(window.date_to)} beside ${daysBefore(daysOf(body.compare.date_from, body.compare.date_to))}`}
          rows={body.brands.filter(filter.has)}
          csv={{ url: metrics("brands-overview", { sort_by, order, table: "brands" }), file: "brands.csv" }}
          sorted={{ by: "change", order: "desc" }}
          empty="None."
          tools={
            <a class="button plain tight" href={withParameters({ scale: apart ? "" : "own" })}>
              {apart ? "One scale for all lines" : "A scale for each line"}
            </a>
          }
          columns={[
            { name: "Brand", sort: "name", cell: (b) => <a href={`/brands/${encodeURIComponent(b.slug)}`}>{b.name}</a> },
            { name: "Mention rate", sort: "rate", number: true, cell: (b) => <Rate brand={b} /> },
            { name: "Did the score move?", sort: "change", tight: true, cell: (b) => <Moved brand={b} brands={counts.brands} /> },
            {
              name: apart ? `${sparkDays} days, own scales` : `${sparkDays} days`,
              cell: (b) => <Line brand={b} to={window.date_to} highest={apart ? Math.max(1, highestOf(b)) : highest} />,
            },
            { name: "Strongest competitor and gap", sort: "gap", cell: (b) => <Leader brand={b} /> },
            { name: "Visits", sort: "visits", number: true, cell: (b) => <WithN text={number(b.visits)} beside={b.visits || b.visits_change ? signed(b.visits_change, number) : null} /> },
            { name: "Last answers", sort: "last_answer", tight: true, cell: (b) => <Last brand={b} /> },
            { name: `Cost in ${shortDate(body.month + "-01").split(" ")[0]}`, sort: "cost", number: true, cell: (b) => <span title={`${b.cost_usd} USD`}>{money(b.cost_usd)}</span> },
          ]}
          foot={
            <div class="inside">
              <Certainty />
            </div>
          }
        />
      </div>
    </div>
  )
}

// headline counts what needs attention.
function headline({ brands: [first], counts: { brands, moved_up, moved_down, late } }: BrandsOverview): string {
  const moves = moved_down + moved_up === 0 ? "None moved clearly" : brands === 1 ? `${first?.name} moved ${moved_down > 0 ? "down" : "up"}` : `${number(moved_down)} of ${plural(brands, "brand")} moved down, ${number(moved_up)} up`
  return late > 0 ? `${moves}; ${number(late)} ${late === 1 ? "has" : "have"} no answers since longer than scheduled.` : moves + "."
}

const highestOf = (brand: OverviewBrand) => Math.max(0, ...brand.buckets.map((b) => ("high" in (b.mention_rate_interval ?? {}) ? (b.mention_rate_interval as { high: number }).high : b.mention_rate_pct)))

// marked are the attributes of a mark, by which tests compare it with the API.
const marked = (key: string, x: string, value: number | null, range: OverviewBrand["mention_rate_interval"], n: number) => {
  const ends = range && "low" in range ? range : undefined
  return { "data-key": key, "data-x": x, "data-value": value ?? undefined, "data-low": ends?.low, "data-high": ends?.high, "data-n": n }
}

// Rate is the figure, above its interval on an axis from 0 to 100 that all rows share.
function Rate({ brand: { slug, mention_rate_pct: rate, mention_rate_interval: range, result_count: n } }: { brand: OverviewBrand }) {
  const said = bounds(range, "%")
  return (
    <span class="rate" title={`${said ? `${said}, ` : ""}n = ${number(n)}`} {...marked(slug, "rate", rate, range, n)}>
      {inColumn(rate)}
      <span class="hidden"> {said ?? "no answers"}</span>
      <Strip rate={rate} range={range} />
    </span>
  )
}

function Moved({ brand: { change }, brands }: { brand: OverviewBrand; brands: number }) {
  const range = change.since?.interval ?? change.interval
  const difference = change.since?.difference ?? change.difference
  return (
    <span title={finding(change)}>
      <Chip change={{ verdict: change.verdict, difference }} />
      {range && <span class="with-n">{`${signed(range.low)} to ${signed(range.high)}`}</span>}
      {change.unadjusted && <span class="with-n">may be chance among {number(brands)}</span>}
    </span>
  )
}

function Line({ brand, to, highest }: { brand: OverviewBrand; to: string; highest: number }) {
  const days = Array.from({ length: sparkDays }, (_, i) => brand.buckets.find((b) => b.date === shift(to, i + 1 - sparkDays)))
  const last = brand.buckets.at(-1)
  if (!last) return <span class="soft small">no answers</span>
  return (
    <span {...marked(brand.slug, last.date, last.mention_rate_pct, last.mention_rate_interval, last.result_count)}>
      <Spark
        values={days.map((b) => b?.mention_rate_pct ?? null)}
        ranges={days.map((b) => b?.mention_rate_interval ?? null)}
        domain={[0, highest]}
        label={`Rate on ${plural(brand.buckets.length, "day")}; on ${date(last.date)} ${percent(last.mention_rate_pct)}`}
      />
    </span>
  )
}

function Leader({ brand: { leader, slug } }: { brand: OverviewBrand }) {
  if (!leader) return <span class="soft">none named</span>
  const { gap } = leader
  const range = bounds(gap.interval, " points")
  return (
    <a class="plain" href={`/brands/${encodeURIComponent(slug)}/competitors`} title={`${leader.name}: ${percent(leader.mention_rate_pct)}${range ? `; gap ${range}` : ""}`}>
      {leader.name} <Chip change={{ verdict: gap.verdict, difference: gap.difference }} />
    </a>
  )
}

function Last({ brand: { last_answer_at: at, next_run_at: next, late } }: { brand: OverviewBrand }) {
  return (
    <span title={next ? `Next run ${time(next)}` : "Not scheduled"}>
      {at ? shortDate(at) : <span class="soft">never</span>} {late && <span class="tag warn">late</span>}
    </span>
  )
}

// moveFocus goes to the row above or below by the arrow keys.
function moveFocus(event: KeyboardEvent & { currentTarget: HTMLElement }) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
  const links = [...event.currentTarget.querySelectorAll<HTMLElement>("tbody th a")]
  const at = links.indexOf((event.target as HTMLElement).closest("tr")?.querySelector<HTMLElement>("th a") as HTMLElement)
  if (!step || at < 0) return
  event.preventDefault()
  links[at + step]?.focus()
}

function AddBrand({ session, onClose }: { session: Session; onClose: () => void }) {
  const [name, setName] = useState("")
  const [domain, setDomain] = useState("")
  const [made, make] = useState<Brand>() // its domain may be refused
  const save = async () => {
    const brand = await saveBrand(session, made, name)
    make(brand)
    refresh()
    await saveDomain(brand, undefined, domain)
    go(`/brands/${encodeURIComponent(brand.slug)}/prompts`)
  }
  return (
    <FormDialog title="Add brand" act="Add brand" onClose={onClose} onAct={save}>
      <Field label="Brand name" value={name} onInput={setName} required />
      <Field label="Domain" value={domain} onInput={setDomain} hint={domainHint} />
    </FormDialog>
  )
}
