import { useAnswer } from "../api.ts"
import type { Brand, Session, Traffic, TrafficBucket } from "../bodies.ts"
import type { Flag, Mark, Series } from "../chart/marks.ts"
import { dayNumber } from "../chart/scale.ts"
import { Stack } from "../chart/stack.tsx"
import { daysOf, number, plural, shift, shortDate } from "../format.ts"
import { chosenWindow } from "../parts/filters.tsx"
import { useNotes } from "../parts/notes.tsx"
import { slotOf } from "../parts/platform.ts"
import { Segments } from "../parts/segments.tsx"
import { go, query, withParameters } from "../route.ts"

export type Ask = (endpoint: string, more?: Record<string, string | undefined>) => string

const counts = ["visits", "sessions", "goals"] as const
type Count = (typeof counts)[number]

const titles: Record<Count, string> = {
  visits: "Page views that AI platforms sent",
  sessions: "Visits of a tab, each counted once",
  goals: "Goals that those visitors reached",
}

const longest = 92 // days that have a bar each; of more, each week has one

// granularityOf is the width of the bars of a window.
export const granularityOf = (from: string, to: string) => (daysOf(from, to) > longest ? "week" : "day")

interface Props {
  brand: Brand
  session: Session
  traffic: Traffic
  ask: Ask
}

// Visits stacks the platforms' visits, or another count, of each day. Money is of one currency at a time.
export function Visits({ brand, session, traffic, ask }: Props) {
  const { from, to } = chosenWindow()
  const granularity = granularityOf(from, to)
  const weekly = granularity === "week"
  const metric = query.value.get("metric") ?? "visits"
  const count = counts.find((name) => name === metric)
  const currencies = [...new Set(traffic.goals.flatMap((g) => g.currency ?? []))].sort()
  const currency = count ? undefined : currencies.find((code) => code === metric)
  const value = (b: TrafficBucket) =>
    currency ? (b.values.find((v) => v.currency === currency)?.value ?? 0) : b[count ?? "visits"]
  const window = traffic.comparison?.window
  const earlier = useAnswer<Traffic>(window ? ask("ai-traffic", { granularity, ...window }) : null).data?.buckets
  const notes = useNotes(brand, session, from, to)
  const buckets = (traffic.buckets ?? []).filter((b) => value(b) > 0)
  const series = traffic.platform_breakdown
    .map(({ platform }) => platform)
    .toSorted((a, b) => (slotOf(a) || 9) - (slotOf(b) || 9) || a.localeCompare(b))
    .map((platform): Series => ({
      key: platform,
      name: platform,
      slot: slotOf(platform),
      marks: buckets
        .filter((b) => b.platform === platform)
        .map((b): Mark => ({ key: platform, x: b.date, y: value(b) })),
    }))
    .filter((s) => s.marks.length > 0)
  return (
    <>
      <Stack
        name={`Visits per ${granularity}`}
        finding={findingOf(traffic, currency ? undefined : (count ?? "visits"))}
        subtitle={`${currency ? `Value of goals in ${currency}` : titles[count ?? "visits"]}, by platform and ${granularity}; ${plural(traffic.sessions, "session")} began`}
        unit={currency ?? ""}
        as="bars"
        weekly={weekly}
        days={{ from, to }}
        tools={<Metrics currency={currency} currencies={currencies} />}
        csv={{ url: ask("ai-traffic", { granularity, table: "buckets" }), file: `${brand.slug}-visits.csv` }}
        series={series}
        before={window && earlier ? totalsBefore(earlier, value, window.date_from, from, weekly) : undefined}
        flags={[...notes.flags, ...(currency || count === "goals" ? [] : goalsOf(traffic.buckets ?? []))]}
        onNote={notes.onNote}
        method="Every bar counts what reached the site: these are counts, not a sample, so there is no interval. The dashed line has the total of the days before, each under the day that it is compared with."
        empty={currency ? `No goal had a value in ${currency}.` : "None in this window."}
      />
      {notes.dialog}
    </>
  )
}

// findingOf says how many there were, and the difference to the days before.
function findingOf(traffic: Traffic, count?: Count): string | undefined {
  if (count !== "visits" && count !== "sessions") return undefined
  const now = count === "visits" ? traffic.total_visits : traffic.sessions
  const total = `${plural(now, count.slice(0, -1))} from AI platforms`
  const compared = traffic.comparison
  if (!compared) return total
  const { difference } = compared[count]
  const many = difference === 0 ? "as many as" : `${number(Math.abs(difference))} ${difference > 0 ? "more" : "fewer"} than`
  return `${total}, ${many} in the ${plural(daysOf(compared.window.date_from, compared.window.date_to), "day")} before`
}

const mondayOf = (day: number) => day - ((day + 3) % 7)

// totalsBefore adds the platforms of each bucket of the days before, and moves them to the days that they are compared with.
function totalsBefore(
  buckets: TrafficBucket[],
  value: (bucket: TrafficBucket) => number,
  before: string,
  from: string,
  weekly: boolean,
): Series {
  const [first, second] = [dayNumber(before), dayNumber(from)]
  const lag = weekly ? mondayOf(second) - mondayOf(first) : second - first
  const totals = new Map<string, number>()
  for (const b of buckets) totals.set(b.date, (totals.get(b.date) ?? 0) + value(b))
  return {
    key: "before",
    name: `The ${plural(second - first, "day")} before`,
    slot: 9,
    marks: [...totals].map(([date, y]) => ({ key: "before", x: shift(date, lag), y, notes: [`on ${shortDate(date)}`] })),
  }
}

const mostGoals = 10 // days of which flags tell something

// goalsOf flags the days on which a goal was reached, where they are few.
function goalsOf(buckets: TrafficBucket[]): Flag[] {
  const days = new Set(buckets.filter((b) => b.goals > 0).map((b) => b.date))
  return days.size > mostGoals ? [] : [...days].map((day) => ({ day, kind: "goal", text: "a goal was reached" }))
}

interface MetricsProps {
  currency?: string
  currencies: string[]
}

// Metrics choose what is counted, and of money the currency.
function Metrics({ currency, currencies }: MetricsProps) {
  const amount = currency ?? currencies[0]
  return (
    <>
      <Segments
        name="Count"
        parameter="metric"
        options={[
          ["visits", "Visits"],
          ["sessions", "Sessions"],
          ["goals", "Goals"],
          ...(amount ? [[amount, "Value"] as const] : []),
        ]}
      />
      {currency && currencies.length > 1 && (
        <select
          aria-label="Currency"
          value={currency}
          onInput={(event) => go(withParameters({ metric: event.currentTarget.value }))}
        >
          {currencies.map((code) => (
            <option key={code}>{code}</option>
          ))}
        </select>
      )}
    </>
  )
}
