import { useAnswer } from "../api.ts"
import type { Brand, Compared, Comparison } from "../bodies.ts"
import { Heat } from "../chart/heat.tsx"
import type { Head, HeatProps } from "../chart/marks.ts"
import { number, ordinal } from "../format.ts"
import { question } from "../parts/filters.tsx"
import { groupName } from "../parts/platform.ts"
import { Segments } from "../parts/segments.tsx"
import { Shown } from "../parts/state.tsx"
import { query, withParameters } from "../route.ts"
import { groupFilter, keyOf, naming, ranked } from "./drill.ts"

// dimensions are the group_by of the API, and the filter that each has.
const dimensions = [
  ["platform", "Platform", "platform"],
  ["topic", "Topic", "topic_id"],
  ["region", "Region", "region"],
] as const

const figures = [
  ["share", "Rate"],
  ["gap", "Gap to you"],
  ["voice", "Share of voice"],
] as const

const subtitles: Record<string, string> = {
  share: "Share of each column's answers that name the row",
  gap: "Your rate less the row's, in points: filled where it is certain, outlined where it is not",
  voice: "The row's mentions among those of you and your competitors: counts, no interval",
}

type Group = NonNullable<Comparison["groups"]>[number]

// Places is where the brand is ahead and where behind: entities by platform, topic or region.
export function Places({ brand, comparison }: { brand: Brand; comparison: Comparison }) {
  const [by, , parameter] = dimensions.find(([name]) => name === query.value.get("by")) ?? dimensions[0]
  const [figure] = figures.find(([name]) => name === query.value.get("cells")) ?? figures[0]
  const body = useAnswer<Comparison>(question("competitor-comparison", brand, { group_by: by }))
  const entities = ranked(comparison).filter((row) => row.competitor_id || figure !== "gap")
  return (
    <Shown of={body} height={320}>
      {({ groups = [] }) => {
        const cellOf = (entity: Head, column: Head): ReturnType<HeatProps["cell"]> => {
          const group = groups.find((g) => g.key === column.key)!
          const row = [group.brand, ...group.competitors].find((c) => keyOf(brand, c) === entity.key)
          const mark = { key: entity.key, x: group.name ?? column.key, n: row?.result_count }
          if (!row) return { ...mark, y: null }
          const filter = groupFilter(parameter, column.key)
          const href = filter && naming(brand, row, filter)
          return { ...mark, href, ...valueOf(row, figure) }
        }
        return (
          <Heat
            name={`By ${by}`}
            finding={placesOf(by, groups)}
            subtitle={subtitles[figure]}
            unit={figure === "gap" ? "" : "%"}
            scale={figure === "gap" ? "gap" : "share"}
            head="Name"
            tools={
              <>
                <Segments name="Dimension" parameter="by" options={dimensions.map(([name, text]) => [name, text])} />
                <Segments name="Cells" parameter="cells" options={figures} />
              </>
            }
            rows={entities.map((row) => ({
              key: keyOf(brand, row),
              name: row.name,
              own: !row.competitor_id,
              href: naming(brand, row),
            }))}
            columns={groups.map((group) => {
              const filter = groupFilter(parameter, group.key)
              return {
                key: group.key,
                name: `${groupName(by, group.key, group.name)}, n\u00a0=\u00a0${number(group.brand.result_count)}`,
                href: filter && withParameters(filter),
              }
            })}
            cell={cellOf}
            csv={{
              url: question("competitor-comparison", brand, { group_by: by, table: "groups.competitors" }),
              file: `${brand.slug}-competitors-by-${by}.csv`,
            }}
          />
        )
      }}
    </Shown>
  )
}

function valueOf(row: Compared, figure: string) {
  switch (figure) {
    case "gap":
      return {
        y: row.gap?.difference ?? null,
        range: row.gap?.interval,
        certain: row.gap?.verdict === "ahead" || row.gap?.verdict === "behind",
      }
    case "voice":
      return { y: row.sov_pct }
  }
  return { y: row.mention_rate_pct, range: row.mention_rate_interval }
}

const mostPlaces = 3

// placesOf has the brand's rank in the groups with the most answers.
function placesOf(by: string, groups: Group[]): string {
  const places = groups.slice(0, mostPlaces).map((group) => `${groupName(by, group.key, group.name)} ${placeIn(group)}`)
  return `Your place: ${places.join(", ")}`
}

function placeIn({ brand, competitors }: Group): string {
  if (!brand.mention_rate_pct) return "not named"
  const shares = competitors.some((c) => c.rank === brand.rank)
  return (shares ? "shares " : "") + ordinal(brand.rank!)
}
