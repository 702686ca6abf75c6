import { root, useAnswer } from "../api.ts"
import type { Brand, Spending as Body, Trend } from "../bodies.ts"
import type { Mark, Series, Slot } from "../chart/marks.ts"
import { Stack } from "../chart/stack.tsx"
import { money, number, plural, shift, today } from "../format.ts"
import { question } from "../parts/filters.tsx"
import { bySlot, platformName, slotOf } from "../parts/platform.ts"
import { Shown } from "../parts/state.tsx"
import { addressOf } from "../route.ts"
import { answers } from "./drill.ts"
import { Refused } from "./running.tsx"
import { missing, outagesOf } from "./trend.tsx"

export const useSpending = (brand: Brand) => useAnswer<Body>(addressOf(`${root}/tracking/spending`, { brand_id: brand.id }))

// Spending is what the brand's runs cost, day by day, and what its schedule will cost.
export function Spending({ spending }: { spending: ReturnType<typeof useSpending> }) {
  return (
    <Shown of={spending} height={320}>
      {(body) => (
        <>
          <CostPerDay spending={body} />
          <Refused title="Not in the forecast:" platforms={body.forecast.refused} />
        </>
      )}
    </Shown>
  )
}

function CostPerDay({ spending }: { spending: Body }) {
  const { days, month, forecast, budget } = spending
  const daily = budget.costPerDay === null ? undefined : Number(budget.costPerDay)
  const platforms = [...new Set([...days, ...forecast.days].map((d) => d.platform))].toSorted(bySlot)
  const series = platforms.flatMap((platform): Series[] => {
    const part = (key: string, name: string, marks: Mark[], outlined: boolean): Series[] =>
      marks.length > 0 ? [{ key, name, slot: slotOf(platform), outlined, marks }] : []
    const spent = days
      .filter((d) => d.platform === platform && d.cost > 0)
      .map((d): Mark => ({ key: platform, x: d.date, y: d.cost, n: d.runs, notes: missing({ given_up_runs: d.given_up, not_shown: d.not_shown }) }))
    const ahead = forecast.days
      .filter((d) => d.platform === platform && d.cost)
      .map((d): Mark => ({ key: `${platform}-forecast`, x: d.date, y: d.cost, n: d.runs }))
    return [
      ...part(platform, platformName(platform), spent, false),
      ...part(`${platform}-forecast`, `${platformName(platform)}, forecast`, ahead, true),
    ]
  })
  const ahead =
    forecast.runs === 0
      ? "nothing is scheduled"
      : forecast.cost === null
        ? `${plural(forecast.runs, "run")} in the next 30 days, of which not every price is known`
        : `about ${money(forecast.cost)} in the next 30 days`
  const limits = [
    daily !== undefined && `${money(daily)} a day`,
    budget.costPerMonth && `${money(Number(budget.costPerMonth))} a month, of which ${money(Number(budget.spent.costMonth))} are spent`,
  ].filter(Boolean)
  return (
    <Stack
      name="Cost per day"
      finding={`${money(month.cost)} this month; ${ahead}`}
      subtitle={`By platform, in US dollars; outlined: the schedule × the estimate of a run.${limits.length > 0 ? ` The organization's budget is ${limits.join(" and ")}.` : ""}`}
      unit="USD"
      as="bars"
      series={series}
      rule={daily === undefined ? undefined : { value: daily, name: "Organization's budget a day" }}
      method="A run costs what the platform's usage says, else its estimate, on the day on which its job was started. The forecast repeats the runs that the schedule would start now."
      empty={`No run has cost anything, and ${ahead}.`}
    />
  )
}

const byDate = (a: { date: string }, b: { date: string }) => a.date.localeCompare(b.date)

// RunsPerDay has what came of the runs of the last 90 days: answers, overviews that were not shown, runs given up.
export function RunsPerDay({ brand }: { brand: Brand }) {
  const window = { date_from: shift(today(), -89), date_to: today() }
  const everything = { platform: undefined, model: undefined, region: undefined, topic_id: undefined, branded: undefined }
  const trend = useAnswer<Trend>(question("visibility-trend", brand, { ...everything, ...window }))
  return (
    <Shown of={trend} height={247}>
      {({ buckets, unanswered }) => {
        const observed = [...buckets, ...unanswered].sort(byDate)
        const part = <B extends { date: string }>(key: string, name: string, slot: Slot, days: B[], value: (b: B) => number): Series => ({
          key,
          name,
          slot,
          hatched: key !== "answered",
          marks: days
            .map((b): Mark => ({
              key,
              x: b.date,
              y: value(b),
              href: answers(brand, { ...everything, date_from: b.date, date_to: b.date }),
            }))
            .filter((mark) => mark.y),
        })
        return (
          <Stack
            name="Runs per day"
            finding={`Answers came in on ${plural(buckets.length, "day")} of the last ${number(90)}`}
            subtitle="Answers, and above them captures without an overview and runs that were given up; hatched days: a platform gave up over a fifth of its runs"
            unit=""
            as="bars"
            height={140}
            days={{ from: window.date_from, to: window.date_to }}
            series={[
              part("answered", "Answered", 0, buckets, (b) => b.result_count),
              part("not_shown", "Not shown", 11, observed, (b) => b.not_shown),
              part("given_up", "Given up", 9, observed, (b) => b.given_up_runs),
            ].filter((s) => s.marks.length > 0)}
            flags={observed.flatMap(outagesOf)}
            csv={{ url: question("visibility-trend", brand, { ...everything, ...window, table: "buckets" }), file: `${brand.slug}-runs.csv` }}
            empty="No answers in the last 90 days: run the prompts now."
          />
        )
      }}
    </Shown>
  )
}
