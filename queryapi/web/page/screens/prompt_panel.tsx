import { useEffect, useRef } from "preact/hooks"
import { tables, useAnswer } from "../api.ts"
import type { Answers, Brand, Citations, Compared, Comparison, Trend } from "../bodies.ts"
import { Dots } from "../chart/dots.tsx"
import { tooFew } from "../chart/marks.ts"
import { Multiples } from "../chart/multiples.tsx"
import { inColumn, number, percent, plural, stamp } from "../format.ts"
import { Card } from "../parts/card.tsx"
import { chosenWindow, question, screen } from "../parts/filters.tsx"
import { platformName } from "../parts/platform.ts"
import { Failed, Shown } from "../parts/state.tsx"
import { go, withParameters } from "../route.ts"
import { answers, keyOf, rateMark, rowSlot } from "./drill.ts"
import { daysCounted } from "./trend.tsx"

interface Props { brand: Brand; prompt: string }
interface Tracked { text: string; is_active: boolean; topics: { name: string } | null }

// Panel shows one prompt beside the list: its rate by platform, who is named, what is cited, the latest answers.
export function Panel({ brand, prompt, text }: Props & { text?: string }) {
  const panel = useRef<HTMLElement>(null)
  const url = tables("prompts", { id: `eq.${prompt}`, select: "text,is_active,topics(name)" })
  const prompts = useAnswer<Tracked[]>(url)
  const [tracked] = prompts.data ?? []
  const closed = withParameters({ prompt: undefined })
  useEffect(() => {
    const opener = document.activeElement as HTMLElement | null
    panel.current?.focus()
    return () => opener?.focus()
  }, [])
  return (
    <section
      ref={panel}
      class="prompt-panel stack"
      aria-label="Prompt"
      tabIndex={-1}
      onKeyDown={(event) => event.key === "Escape" && go(closed)}
    >
      <header class="line">
        <h2 class="long">{tracked?.text ?? text ?? (prompts.data ? "Deleted prompt" : "Prompt")}</h2>
        <a class="button plain tight" href={closed}>
          Close
        </a>
      </header>
      {prompts.failure && <Failed message={prompts.failure.message} />}
      {tracked && (
        <p class="soft">{(tracked.topics?.name ?? "Without topic") + (tracked.is_active ? "" : ", not asked")}</p>
      )}
      <Platforms brand={brand} prompt={prompt} />
      <Entities brand={brand} prompt={prompt} />
      <Domains brand={brand} prompt={prompt} />
      {screen(brand, "answers") && <Latest brand={brand} prompt={prompt} />}
    </section>
  )
}

// Platforms shows weeks, since a prompt has few answers a day.
function Platforms({ brand, prompt }: Props) {
  const weeks = { prompt_id: prompt, group_by: "platform", granularity: "week" }
  const { from: date_from, to: date_to } = chosenWindow()
  return (
    <Shown of={useAnswer<Trend>(question("visibility-trend", brand, weeks))} height={160}>
      {({ groups = [] }) => (
        <Multiples
          name="Rate by platform"
          subtitle="Share of answers that name the brand, by week"
          unit="%"
          weekly
          days={chosenWindow()}
          charts={groups.map(({ key, buckets }) => {
            const filter = { prompt_id: prompt, platform: key }
            const marks = buckets.map((week) => ({
              key,
              x: week.date,
              y: week.mention_rate_pct,
              range: week.mention_rate_interval ?? tooFew,
              n: week.result_count,
              href: answers(brand, { ...filter, ...daysCounted(week.date, true, { date_from, date_to }) }),
            }))
            return { key, title: platformName(key), series: [{ key, name: platformName(key), slot: 0, marks }], href: answers(brand, filter) }
          })}
        />
      )}
    </Shown>
  )
}

function Entities({ brand, prompt }: Props) {
  const rowOf = (entity: Compared) => ({
    key: keyOf(brand, entity),
    name: entity.name,
    own: !entity.competitor_id,
    slot: rowSlot(entity),
    now: rateMark(brand, entity, "this window", { prompt_id: prompt }),
    beside: [inColumn(entity.mention_rate_pct)],
  })
  return (
    <Shown of={useAnswer<Comparison>(question("competitor-comparison", brand, { prompt_id: prompt }))} height={120}>
      {({ brand: own, competitors }) => (
        <Dots
          name="Who is named"
          subtitle={`Share of ${plural(own.result_count, "answer")} that name each`}
          unit="%"
          domain={[0, 100]}
          columns={["Rate"]}
          rows={[own, ...competitors.filter((c) => c.appearance_count > 0)]
            .sort((a, b) => (a.rank ?? 0) - (b.rank ?? 0))
            .map(rowOf)}
        />
      )}
    </Shown>
  )
}

function Domains({ brand, prompt }: Props) {
  return (
    <Shown of={useAnswer<Citations>(question("citations", brand, { prompt_id: prompt, limit: "5" }))} height={96}>
      {({ top_domains, totals }) => (
        <Card
          name="Cited most"
          title={`${plural(totals.domains, "domain")}, in ${plural(totals.results_with_citations, "answer")}`}
        >
          <ol class="inside listed">
            {top_domains.map(({ domain, category, usage_pct }) => (
              <li key={domain} data-key={domain} data-value={usage_pct}>
                <a href={answers(brand, { prompt_id: prompt, domain })}>{domain}</a>
                <span class="soft">{`${category}, in ${percent(usage_pct)} of answers`}</span>
              </li>
            ))}
          </ol>
        </Card>
      )}
    </Shown>
  )
}

function Latest({ brand, prompt }: Props) {
  return (
    <Shown of={useAnswer<Answers>(question("answers", brand, { prompt_id: prompt, limit: "5" }))} height={96}>
      {({ total, answers: rows }) => (
        <Card
          name="Latest answers"
          tools={<a href={answers(brand, { prompt_id: prompt })}>{`All ${plural(total, "answer")}`}</a>}
        >
          <ol class="inside listed">
            {rows.map((row) => (
              <li key={row.id}>
                <a href={screen(brand, `answers/${row.id}`)}>{`${platformName(row.platform)}, ${stamp(row.answered_at)}`}</a>
                <span class="soft">{row.mentioned ? `named, place ${number(row.position)}` : "not named"}</span>
              </li>
            ))}
          </ol>
        </Card>
      )}
    </Shown>
  )
}
