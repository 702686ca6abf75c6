import type { Brand, Session, Traffic, TrafficBucket, TrafficTotal } from "../bodies.ts"
import type { Flag, Mark, Series } from "../chart/marks.ts"
import { lagOf } from "../chart/scale.ts"
import { Stack } from "../chart/stack.tsx"
import { capitalized, daysBefore, daysOf, number, plural, shift, shortDate } from "../format.ts"
import { chosenWindow } from "../parts/filters.tsx"
import { useNotes } from "../parts/notes.tsx"
import { bySlot, platformName, slotOf } from "../parts/platform.ts"
import { Segments } from "../parts/segments.tsx"
import { go, query, withParameters } from "../route.ts"

export type Ask = (endpoint: string, more?: Record<string, string | undefined>) => string

const counts = ["visits", "sessions", "goals"] as const
type Count = (typeof counts)[number]

const titles: Record<Count, readonly [name: string, subtitle: string]> = {
  visits: ["Visits", "Page views that AI platforms sent"],
  sessions: ["Landings", "Sessions that began on the site: visits of a tab, each counted once"],
  goals: ["Goals", "Goals that those visitors reached"],
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
  const currencies = [...new Set(traffic.goals.flatMap((g) => g.currency ?? []))].sort()
  const currency = currencies.find((code) => code === metric)
  const count = currency ? undefined : (counts.find((name) => name === metric) ?? "visits")
  const value = (b: TrafficTotal) =>
    count ? b[count] : (b.values.find((v) => v.currency === currency)?.value ?? 0)
  const [name, subtitle] = count ? titles[count] : [`Value in ${currency}`, `Value of goals in ${currency}`]
  const notes = useNotes(brand, session, from, to)
  const buckets = (traffic.buckets ?? []).filter((b) => value(b) > 0)
  const series = traffic.platform_breakdown
    .map(({ platform }) => platform)
    .toSorted(bySlot)
    .map((platform): Series => ({
      key: platform,
      name: platformName(platform),
      slot: slotOf(platform),
      marks: buckets
        .filter((b) => b.platform === platform)
        .map((b): Mark => ({ key: platform, x: b.date, y: value(b) })),
    }))
    .filter((s) => s.marks.length > 0)
  return (
    <>
      <Stack
        name={`${name} per ${granularity}`}
        finding={count && findingOf(traffic, count)}
        subtitle={`${subtitle}, by platform and ${granularity}${count === "visits" ? `; ${plural(traffic.sessions, "landing")}` : ""}`}
        unit={currency ?? ""}
        as="bars"
        weekly={weekly}
        days={{ from, to }}
        tools={<Metrics currency={currency} currencies={currencies} />}
        csv={{ url: ask("ai-traffic", { granularity, table: "buckets" }), file: `${brand.slug}-visits.csv` }}
        series={series}
        before={traffic.comparison ? totalsBefore(traffic.comparison, value, { from, to }, weekly) : undefined}
        flags={[...notes.flags, ...(!count || count === "goals" ? [] : goalsOf(traffic.buckets ?? []))]}
        onNote={notes.onNote}
        method="Bars count all that reached the site, not a sample: there is no interval. The dashed line has the total of the days before, each under the day that it is compared with."
        empty={currency ? `No goal had a value in ${currency}.` : "None in this window."}
      />
      {notes.dialog}
    </>
  )
}

// findingOf says how many there were, and the difference to the days before.
function findingOf(traffic: Traffic, count: Count): string | undefined {
  const total = { visits: plural(traffic.total_visits, "visit"), sessions: plural(traffic.sessions, "landing"), goals: "" }[count]
  const begin = total && `${total} from AI platforms`
  const compared = traffic.comparison
  if (!compared) return begin || undefined
  const { difference } = compared[count]
  const many = difference === 0 ? "as many as" : `${number(Math.abs(difference))} ${difference > 0 ? "more" : "fewer"} than`
  return `${begin ? `${begin},` : "Goals:"} ${many} in ${daysBefore(daysOf(compared.window.date_from, compared.window.date_to))}`
}

// totalsBefore are the buckets of the days before, each moved to the day that it is compared with.
function totalsBefore(
  { window: before, buckets }: NonNullable<Traffic["comparison"]>,
  value: (bucket: TrafficTotal) => number,
  { from, to }: { from: string; to: string },
  weekly: boolean,
): Series {
  const lag = lagOf(from, before.date_from, weekly)
  return {
    key: "before",
    name: capitalized(daysBefore(daysOf(before.date_from, before.date_to))),
    slot: 9,
    marks: (buckets ?? []).flatMap((b) => {
      const x = shift(b.date, lag)
      return x > to ? [] : [{ key: "before", x, y: value(b), notes: [`on ${shortDate(b.date)}`] }]
    }),
  }
}

const mostGoals = 10 // days with a goal; flags on more would hide the chart

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
          ["sessions", "Landings"],
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
