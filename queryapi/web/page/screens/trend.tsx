import { useContext } from "preact/hooks"
import { useAnswer } from "../api.ts"
import type {
  Brand,
  Bucket,
  Comparison,
  EntityBucket,
  EntityTrend,
  Interval,
  Session,
  Summary,
  Trend as TrendBody,
} from "../bodies.ts"
import { Lines } from "../chart/lines.tsx"
import type { Flag, Mark, Series, Slot } from "../chart/marks.ts"
import { lagOf } from "../chart/scale.ts"
import { capitalized, daysBefore, daysOf, plural, shift, shortDate } from "../format.ts"
import { Chapter } from "../parts/chapter.ts"
import { compares, question } from "../parts/filters.tsx"
import { useNotes } from "../parts/notes.tsx"
import { platformName } from "../parts/platform.ts"
import { Segments } from "../parts/segments.tsx"
import { Failed } from "../parts/state.tsx"
import { go, query, withParameters } from "../route.ts"
import { answers } from "./drill.ts"

// A Point is what the trend draws of a bucket, of the brand or of a competitor.
type Point = Pick<Bucket, "date" | "mention_rate_pct" | "mention_rate_interval" | "ai_visibility_score" | "interval"> &
  Pick<EntityBucket, "answers" | "sov_pct">

// A Metric is a figure of an entity that the trend can show, chosen by its tile.
interface Metric {
  name: string
  subtitle: string
  unit: "%" | ""
  value: (point: Point) => number | null
  range?: (point: Point) => Interval
}

export const metrics: Record<string, Metric> = {
  rate: {
    name: "Mention rate",
    subtitle: "Share of answers that name the brand",
    unit: "%",
    value: (b) => b.mention_rate_pct,
    range: (b) => b.mention_rate_interval,
  },
  score: {
    name: "Visibility score",
    subtitle: "Visibility score, 0 to 100",
    unit: "",
    value: (b) => b.ai_visibility_score,
    range: (b) => b.interval,
  },
  voice: {
    name: "Share of voice",
    subtitle: "Mentions of the brand among those of the brand and its competitors; counts have no interval",
    unit: "%",
    value: (b) => b.sov_pct,
  },
}

export const chosenMetric = () => (query.value.get("metric")! in metrics ? query.value.get("metric")! : "rate")

interface Props {
  brand: Brand
  session: Session
  trend: TrendBody
  window: Summary["window"]
  comparison?: Comparison
}

// Trend draws a metric per day or week: the brand's line with its band, the window before, competitors, and flags for what
// to know before a drop is read as one.
export function Trend({ brand, session, trend, window, comparison }: Props) {
  const weekly = trend.granularity === "week"
  const metric = metrics[chosenMetric()]!
  const { date_from: from, date_to: to } = window
  const length = daysOf(from, to)
  const granularity = weekly ? "week" : undefined
  const earlier = compares() ? { date_from: shift(from, -length), date_to: shift(from, -1) } : undefined
  const now = useAnswer<EntityTrend>(question("entity-trend", brand, { granularity }))
  const before = useAnswer<EntityTrend>(earlier ? question("entity-trend", brand, { granularity, ...earlier }) : null)
  const entities = now.data?.entities ?? []
  const failure = now.failure ?? before.failure
  const alone = !useContext(Chapter)
  const notes = useNotes(brand, session, from, to)
  const bucketFlags = new Map(
    [...trend.buckets, ...trend.unanswered].map((b) => [b.date, flagsOf(trend, b, daysCounted(b.date, weekly, window))]),
  )
  const gaps = trend.unanswered.map((b): Mark => ({ key: brand.id, x: b.date, y: null, notes: missing(b) }))
  const rivals = chosenRivals(comparison)

  const marksOf = (key: string, buckets: Point[], more: (date: string) => Partial<Mark>) =>
    buckets.map((b): Mark => ({
      key,
      x: b.date,
      y: metric.value(b),
      range: metric.range?.(b),
      n: b.answers,
      ...more(b.date),
    }))
  const own = new Map(trend.buckets.map((b) => [b.date, b]))
  const lag = lagOf(from, shift(from, -length), weekly)
  const rate = trend.buckets.map((b) => ({ ...b, answers: b.result_count, sov_pct: null }))
  const line: Series = {
    key: brand.id,
    name: brand.name,
    slot: 0,
    marks: [
      ...gaps,
      ...marksOf(
        brand.id,
        metric === metrics.rate ? rate : (entities.find((e) => e.is_brand)?.buckets ?? []),
        (date) => ({
          notes: [...(bucketFlags.get(date) ?? []).map((f) => f.text), ...missing(own.get(date))],
          href: answers(brand, daysCounted(date, weekly, window)),
        }),
      ),
    ].sort((a, b) => String(a.x).localeCompare(String(b.x))),
  }
  const others = entities
    .filter((e) => !e.is_brand)
    .map((e): Series => ({
      key: e.id,
      name: e.name,
      slot: (e.slot ?? 9) as Slot,
      quiet: !rivals.includes(e.id),
      marks: marksOf(e.id, e.buckets, (date) => ({
        href: answers(brand, { ...daysCounted(date, weekly, window), competitor_id: e.id }),
      })),
    }))
  const previous = (before.data?.entities.find((e) => e.is_brand)?.buckets ?? []).filter((b) => shift(b.date, lag) <= to)
  return (
    <>
      {failure && <Failed message={failure.message} />}
      <Lines
        name="Visibility trend"
        subtitle={`${metric.subtitle}, by ${weekly ? "week" : "day"}`}
        unit={metric.unit}
        weekly={weekly}
        days={{ from, to }}
        tools={<Segments name="Granularity of the trend" parameter="granularity" options={granularities} />}
        csv={{
          url: question("visibility-trend", brand, { granularity: trend.granularity, table: "buckets" }),
          file: `${brand.slug}-trend.csv`,
        }}
        flags={[...[...bucketFlags.values()].flat(), ...notes.flags]}
        series={[line, ...others]}
        before={
          earlier && previous.length > 0
            ? {
                key: "before",
                name: capitalized(daysBefore(length)),
                slot: 9,
                marks: marksOf("before", previous, (date) => ({
                  x: shift(date, lag),
                  notes: [`on ${shortDate(date)}`],
                  href: answers(brand, daysCounted(date, weekly, earlier)),
                })),
              }
            : undefined
        }
        empty={now.data ? undefined : now.failure ? "It could not be read." : "Loading"}
        onToggle={alone ? (id) => toggle(rivals, id, mostRivals) : undefined}
        onNote={notes.onNote}
        method="Each point counts the answers of its bucket; the band is the 95 % interval over its prompts. The dashed line has the days before, each under the day that it is compared with."
      />
      {notes.dialog}
    </>
  )
}

export const granularities = [
  ["day", "Days"],
  ["week", "Weeks"],
] as const

const mostRivals = 4

// chosenRivals are the competitors with a line of their own: those of the address, else the one that leads.
function chosenRivals(comparison?: Comparison): string[] {
  const leader = leaderOf(comparison)
  return namedRivals() ?? (leader?.competitor_id ? [leader.competitor_id] : [])
}

// namedRivals are the competitors of the address, where it names some, or says that there are none.
export const namedRivals = () => query.value.get("rivals")?.split(",").filter((id) => id !== "none")

// toggle adds a competitor to those that are chosen, of which the last ones stay, or takes it away.
export function toggle(rivals: string[], id: string, most = Infinity): void {
  const next = rivals.includes(id) ? rivals.filter((one) => one !== id) : [...rivals, id].slice(-most)
  go(withParameters({ rivals: next.join(",") || "none" }))
}

// leaderOf is the competitor of the first rank, or of the second after the brand.
export function leaderOf(comparison?: Comparison) {
  const ranked = (comparison?.competitors ?? []).filter((c) => c.rank !== null)
  return ranked.sort((a, b) => a.rank! - b.rank!)[0]
}

// daysCounted are the days that a bucket counts: the first and the last week may have others, outside the window.
export function daysCounted(date: string, weekly: boolean, window: Summary["window"]): Summary["window"] {
  const last = weekly ? shift(date, 6) : date
  return {
    date_from: date < window.date_from ? window.date_from : date,
    date_to: last > window.date_to ? window.date_to : last,
  }
}

// flagsOf are what to know of a bucket before its value is read as the brand's.
function flagsOf(trend: TrendBody, bucket: TrendBody["unanswered"][number], days: Summary["window"]): Flag[] {
  const moved = trend.changes.find((c) => days.date_from <= c.day && c.day <= days.date_to)
  const flag = (kind: Flag["kind"], text: string): Flag => ({ day: bucket.date, kind, text })
  return [
    ...(moved ? [flag("moved", `the score moved ${moved.direction}`)] : []),
    ...bucket.model_changes.map((c) => flag("model", `${platformName(c.platform)} now ${c.now.join(", ")}`)),
    ...outagesOf(bucket),
  ]
}

// outagesOf are the flags of platforms that gave up too many runs of a bucket.
export const outagesOf = (b: Pick<Bucket, "date" | "degraded_platforms">) =>
  b.degraded_platforms.map((platform): Flag => ({ day: b.date, kind: "outage", text: `outage of ${platformName(platform)}` }))

// missing are the notes about runs of a bucket that are in no figure.
export const missing = (bucket?: Pick<Bucket, "given_up_runs" | "not_shown">) => [
  ...(bucket?.given_up_runs ? [`${plural(bucket.given_up_runs, "run")} given up`] : []),
  ...(bucket?.not_shown ? [`${plural(bucket.not_shown, "overview")} not shown`] : []),
]
