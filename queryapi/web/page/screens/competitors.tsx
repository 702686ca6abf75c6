import { useAnswer } from "../api.ts"
import type { Brand, Changes, Compared, Comparison } from "../bodies.ts"
import { Chip } from "../chart/chip.tsx"
import { Dots } from "../chart/dots.tsx"
import type { Mark } from "../chart/marks.ts"
import { domainOf } from "../chart/scale.ts"
import { daysBefore, daysOf, inColumn, none, number, ordinal, plural, shift } from "../format.ts"
import { later } from "../later.tsx"
import { boundsInColumn } from "../parts/figure.tsx"
import { chosenWindow, compares, question, screen } from "../parts/filters.tsx"
import { Screen } from "../parts/frame.tsx"
import { Segments } from "../parts/segments.tsx"
import { Empty, Failed, Shown } from "../parts/state.tsx"
import { Table, WithN } from "../parts/table.tsx"
import { Toolbar } from "../parts/toolbar.tsx"
import { query, token } from "../route.ts"
import { OverTime, ShareOfVoice } from "./competitors_over_time.tsx"
import { Places } from "./competitors_places.tsx"
import { keyOf, naming, ranked, rowSlot } from "./drill.ts"
import { NoAnswers } from "./overview.tsx"

const Sentiment = later(() => import("../advice.ts").then((m) => m.Sentiment))

export function Competitors({ brand }: { brand: Brand }) {
  const comparison = useAnswer<Comparison>(question("competitor-comparison", brand))
  return (
    <Screen name="Competitors" of={brand.name} bar={<Toolbar brand={brand} />}>
      <Shown of={comparison} height={420}>
        {(c) => {
          if (c.competitors.length === 0) return <NoCompetitors brand={brand} />
          if (c.brand.result_count === 0) return <NoAnswers brand={brand} />
          return (
            <div class="stack">
              <Ranking brand={brand} comparison={c} />
              <OverTime brand={brand} comparison={c} />
              <ShareOfVoice brand={brand} comparison={c} />
              <Places brand={brand} comparison={c} />
              <Visibility brand={brand} comparison={c} />
              {!token && <Sentiment brand={brand} />}
            </div>
          )
        }}
      </Shown>
    </Screen>
  )
}

function NoCompetitors({ brand }: { brand: Brand }) {
  return (
    <Empty title="No competitors" next={[screen(brand, "settings"), "Add a competitor"]}>
      Add one: its history is read from the answers that are there.
    </Empty>
  )
}

// A Metric is a figure by which entities are ranked.
interface Metric {
  name: string
  subtitle: string
  unit: "%" | ""
  value: (row: Compared) => number | null
  range?: (row: Compared) => Compared["interval"]
  n: (row: Compared) => number
  domain: (values: number[]) => [number, number]
  reversed?: boolean
}

const metrics: Record<string, Metric> = {
  rate: {
    name: "Rate",
    subtitle: "Share of the same answers that name each; the strip is the 95 % interval",
    unit: "%",
    value: (row) => row.mention_rate_pct,
    range: (row) => row.mention_rate_interval,
    n: (row) => row.result_count,
    domain: () => [0, 100],
  },
  score: {
    name: "Score",
    subtitle: "Visibility score over the same answers; the strip is the 95 % interval",
    unit: "",
    value: (row) => row.ai_visibility_score,
    range: (row) => row.interval,
    n: (row) => row.result_count,
    domain: () => [0, 100],
  },
  position: {
    name: "Position",
    subtitle: "Mean place in the answers that name each: 1 is named first",
    unit: "",
    value: (row) => row.avg_position,
    n: (row) => row.appearance_count,
    domain: (values) => [1, Math.max(2, ...values.map(Math.ceil))],
    reversed: true,
  },
  citations: {
    name: "Citations",
    subtitle: "Citations of each one's own pages in the same answers",
    unit: "",
    value: (row) => row.total_citations,
    n: (row) => row.result_count,
    domain: (values) => domainOf(values, ""),
  },
}

interface Props {
  brand: Brand
  comparison: Comparison
}

// Ranking has a row for each entity: its figure, that of the days before, and how far the brand is ahead of it.
function Ranking({ brand, comparison }: Props) {
  const metric = metrics[query.value.get("metric") ?? ""] ?? metrics.rate!
  const judged = metric === metrics.rate // only rates have a gap
  const { from, to } = chosenWindow()
  const length = daysOf(from, to)
  const period = daysBefore(length)
  const earlier = { date_from: shift(from, -length), date_to: shift(from, -1) }
  const beside = compares()
  const past = useAnswer<Comparison>(beside ? question("competitor-comparison", brand, earlier) : null)
  const before = new Map(past.data && ranked(past.data).map((row) => [keyOf(brand, row), row]))
  const mark = (row: Compared, x: string, window = {}): Mark => ({
    key: keyOf(brand, row),
    x,
    y: metric.value(row),
    range: metric.range?.(row),
    n: metric.n(row),
    href: naming(brand, row, window),
  })
  const last = metric.reversed ? Infinity : -1
  const order = (row: Compared) => (metric.value(row) ?? last) * (metric.reversed ? 1 : -1)
  const rows = ranked(comparison).sort((a, b) => order(a) - order(b))
  const values = [...rows, ...before.values()].flatMap((row) => metric.value(row) ?? [])
  return (
    <>
      {past.failure && <Failed message={past.failure.message} />}
      <Dots
        name="Ranking"
        finding={judged ? standing(comparison) : `By ${metric.name.toLowerCase()}`}
        subtitle={beside ? `${metric.subtitle}; hollow: ${period}` : metric.subtitle}
        unit={metric.unit}
        domain={metric.domain(values)}
        reversed={metric.reversed}
        tools={<Segments name="Metric" parameter="metric" options={metricNames} />}
        csv={csvOf(brand)}
        columns={[metric.name, ...(judged ? ["You are"] : []), ...(beside ? ["Before"] : [])]}
        rows={rows.map((row) => {
          const then = before.get(keyOf(brand, row))
          return {
            key: keyOf(brand, row),
            name: row.name,
            own: !row.competitor_id,
            slot: rowSlot(row),
            now: mark(row, "this window"),
            before: then && mark(then, period, earlier),
            beside: [
              <Value row={row} metric={metric} />,
              ...(judged ? [<Gap row={row} all={rows.length} />] : []),
              ...(beside ? [then ? shownAs(metric, then) : past.data && none] : []),
            ],
          }
        })}
        method={method}
      />
    </>
  )
}

const method =
  "The gap is the difference of the two rates over the same answers, paired by prompt. Its interval decides " +
  "whether you are ahead or behind, never the overlap of two strips."

const metricNames = Object.entries(metrics).map(([value, { name }]) => [value, name] as const)

function shownAs(metric: Metric, row: Compared): string {
  const value = metric.value(row)
  return metric === metrics.citations ? number(value) : inColumn(value, metric.unit)
}

function Value({ row, metric }: { row: Compared; metric: Metric }) {
  return <WithN text={shownAs(metric, row)} beside={metric.range ? boundsInColumn(metric.range(row)) : metric.n(row)} />
}

// Gap is where the brand is beside a competitor; of the brand it is its place among all.
function Gap({ row, all }: { row: Compared; all: number }) {
  if (!row.competitor_id) return <strong>{row.rank && `${ordinal(row.rank)} of ${number(all)}`}</strong>
  if (!row.gap) return null
  return (
    <>
      <Chip change={row.gap} />{" "}
      {"low" in row.gap.interval! && <span class="with-n">{boundsInColumn(row.gap.interval)} points</span>}
    </>
  )
}

const list = new Intl.ListFormat("en-US")
const mostNames = 3

// standing says who is certainly ahead of the brand.
function standing(comparison: Comparison): string {
  const rivals = ranked(comparison).filter((row) => row.competitor_id)
  const judged = (verdict: string) => rivals.filter((row) => row.gap?.verdict === verdict)
  const behind = judged("behind").map((row) => row.name)
  const more = behind.length > mostNames ? [`${number(behind.length - mostNames)} more`] : []
  if (behind.length > 0) return `Ahead of you: ${list.format([...behind.slice(0, mostNames), ...more])}`
  if (judged("too_little_data").length > 0) return "Too little data to say who is ahead"
  return judged("level").length > 0 ? "Nobody is certainly ahead of you" : "You are ahead of every competitor"
}

export const csvOf = (brand: Brand) => ({
  url: question("competitor-comparison", brand, { table: "competitors" }),
  file: `${brand.slug}-competitors.csv`,
})

// Visibility has all figures, and whether each rate moved.
function Visibility({ brand, comparison }: Props) {
  const changes = useAnswer<Changes>(
    question("visibility-changes", brand, { group_by: "competitor", metric: "mention_rate" }),
  )
  const moves = new Map(changes.data?.changes.map((c) => [c.key, c]))
  return (
    <Table<Compared>
      name="Visibility"
      title={`Over the same ${plural(comparison.brand.result_count, "answer")}; position: mean place in those that name it`}
      rows={ranked(comparison)}
      own={(row) => !row.competitor_id}
      columns={[
        { name: "Name", cell: (row) => <a href={naming(brand, row)}>{row.name}</a> },
        {
          name: "Mention rate",
          number: true,
          cell: (row) => <WithN text={inColumn(row.mention_rate_pct)} beside={boundsInColumn(row.mention_rate_interval)} />,
        },
        {
          name: "Moved",
          number: true,
          cell: (row) => {
            const change = row.competitor_id ? moves.get(row.competitor_id) : changes.data?.change
            return change && <Chip change={change} />
          },
        },
        {
          name: "Score",
          number: true,
          cell: (row) => <WithN text={inColumn(row.ai_visibility_score, "")} beside={boundsInColumn(row.interval)} />,
        },
        { name: "Position", number: true, cell: (row) => inColumn(row.avg_position, "") },
        { name: "Mentions", number: true, cell: (row) => number(row.total_mentions) },
        { name: "Share of voice", number: true, cell: (row) => inColumn(row.sov_pct) },
        { name: "Citations", number: true, cell: (row) => number(row.total_citations) },
        {
          name: "Prompts",
          number: true,
          cell: (row) => (
            <>
              {number(row.visible_prompts)} of {number(row.prompt_count)}
            </>
          ),
        },
      ]}
      csv={csvOf(brand)}
      foot={changes.failure && <Failed message={changes.failure.message} />}
    />
  )
}
