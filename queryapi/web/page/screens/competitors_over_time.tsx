import { useContext } from "preact/hooks"
import { useAnswer } from "../api.ts"
import type { Brand, Compared, Comparison, EntityBucket, EntityTrend } from "../bodies.ts"
import { Chip } from "../chart/chip.tsx"
import { Lines } from "../chart/lines.tsx"
import type { Series } from "../chart/marks.ts"
import { Multiples } from "../chart/multiples.tsx"
import { Stack } from "../chart/stack.tsx"
import { inColumn, percent } from "../format.ts"
import { Chapter } from "../parts/chapter.ts"
import { chosenWindow, question } from "../parts/filters.tsx"
import { Segments } from "../parts/segments.tsx"
import { Shown } from "../parts/state.tsx"
import { query } from "../route.ts"
import { keyOf, naming, ranked, rowSlot } from "./drill.ts"
import { daysCounted, granularities, namedRivals, toggle } from "./trend.tsx"

interface Props {
  brand: Brand
  comparison: Comparison
}

const mostLines = 4 // in one picture, the brand's among them

// OverTime draws the rates of the brand and of chosen competitors as lines, of more than four as small charts.
export function OverTime({ brand, comparison }: Props) {
  const weekly = query.value.get("granularity") === "week"
  const granularity = weekly ? "week" : undefined
  const trend = useAnswer<EntityTrend>(question("entity-trend", brand, { granularity }))
  const rows = ranked(comparison)
  const rivals = chosenRivals(rows)
  const each = query.value.get("rivals") === "all"
  const alone = !useContext(Chapter)
  const shown = rows.filter((row) => !row.competitor_id || rivals.includes(row.competitor_id))
  const chart = {
    name: "Mention rate over time",
    unit: "%",
    weekly,
    days: chosenWindow(),
    tools: (
      <>
        <Segments name="Granularity" parameter="granularity" options={granularities} />
        <Segments name="Charts" parameter="rivals" options={[["", "Lines"], ["all", "Each"]]} />
      </>
    ),
    csv: {
      url: question("entity-trend", brand, { granularity, table: "entities.buckets" }),
      file: `${brand.slug}-competitors-over-time.csv`,
    },
  }
  return (
    <Shown of={trend} height={360}>
      {({ entities }) => {
        const series = seriesOf(brand, rows, entities, weekly, (bucket) => ({
          y: bucket.mention_rate_pct,
          range: bucket.mention_rate_interval,
        }))
        const lines = [...series.filter((s) => s.slot === 0), ...series.filter((s) => s.slot !== 0)]
        return shown.length <= mostLines && !each ? (
          <Lines
            {...chart}
            subtitle="Share of the same answers that name each; the band is your 95 % interval"
            series={lines.map((s, i) => ({ ...s, quiet: i > 0 && !rivals.includes(s.key) }))}
            onToggle={alone ? (id) => toggle(rivals, id) : undefined}
          />
        ) : (
          <Multiples
            {...chart}
            subtitle="Each in turn on the same axes, with its 95 % interval; grey: all others"
            charts={shown.map((row) => {
              const key = keyOf(brand, row)
              const own = series.filter((s) => s.key === key)
              const others = series.filter((s) => s.key !== key)
              return {
                key,
                title: row.name,
                href: naming(brand, row),
                rate: inColumn(row.mention_rate_pct),
                chip: row.gap && <Chip change={row.gap} short />,
                series: [...own, ...others.map((s) => ({ ...s, quiet: true }))],
              }
            })}
          />
        )
      }}
    </Shown>
  )
}

// chosenRivals are the competitors of the address; without, the three that are just above the brand, or next below it.
function chosenRivals(rows: Compared[]): string[] {
  const ids = (list: Compared[]) => list.flatMap((row) => row.competitor_id ?? [])
  const rivals = namedRivals()
  if (rivals) return rivals[0] === "all" ? ids(rows) : rivals
  const place = rows.findIndex((row) => !row.competitor_id)
  return ids([...rows.slice(0, place).reverse(), ...rows.slice(place)]).slice(0, mostLines - 1)
}

// seriesOf has the buckets of each entity in the order of the rows.
function seriesOf(
  brand: Brand,
  rows: Compared[],
  entities: EntityTrend["entities"],
  weekly: boolean,
  figure: (bucket: EntityBucket) => Pick<Series["marks"][number], "y" | "range">,
): Series[] {
  const { from, to } = chosenWindow()
  const buckets = new Map(entities.map((e) => [e.id, e.buckets]))
  return rows.map((row) => {
    const key = keyOf(brand, row)
    return {
      key,
      name: row.name,
      slot: rowSlot(row),
      marks: (buckets.get(key) ?? []).map((bucket) => {
        const days = daysCounted(bucket.date, weekly, { date_from: from, date_to: to })
        return { key, x: bucket.date, ...figure(bucket), n: bucket.answers, href: naming(brand, row, days) }
      }),
    }
  })
}

// ShareOfVoice stacks the shares of all mentions by week, the brand's at the bottom, where it has a straight base.
export function ShareOfVoice({ brand, comparison }: Props) {
  const trend = useAnswer<EntityTrend>(question("entity-trend", brand, { granularity: "week" }))
  const rivals = comparison.competitors.toSorted((a, b) => b.total_mentions - a.total_mentions)
  const share = comparison.share_of_voice.overall_sov_pct
  return (
    <Shown of={trend} height={320}>
      {({ entities }) => (
        <Stack
          name="Share of voice"
          finding={share === null ? "Nobody is mentioned" : `You have ${percent(share)} of all mentions`}
          subtitle="Mentions among those of you and your competitors, by week: counts, no interval"
          unit="%"
          as={entities[0] && entities[0].buckets.length > 1 ? "area" : "bars"}
          share
          weekly
          days={chosenWindow()}
          series={seriesOf(brand, [comparison.brand, ...rivals], entities, true, (b) => ({ y: b.sov_pct }))}
          csv={{
            url: question("entity-trend", brand, { granularity: "week", table: "entities.buckets" }),
            file: `${brand.slug}-share-of-voice.csv`,
          }}
        />
      )}
    </Shown>
  )
}
