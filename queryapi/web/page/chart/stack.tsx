import { useId } from "preact/hooks"
import { plural } from "../format.ts"
import { Days, Hatch, Values } from "./axis.tsx"
import { bucketsIn, Chart, Legend, Spot, tableOf, Tip } from "./chart.tsx"
import { type Grid, type Place, useMarks } from "./cursor.ts"
import { AddNote, FlagList, Flags, spansOf } from "./flags.tsx"
import { columnsOf, Curve, cut, gridOf, hasValue, type Plot, plotOf, stepOf, valuesOf } from "./lines.tsx"
import type { Series, StackProps } from "./marks.ts"
import { areaPath, barWidth, dayNumber, domainOf, linear, type Pair, runsOf } from "./scale.ts"

interface Part {
  low: number
  high: number
} // where a value lies in its column

// Stack draws series above each other, as bars or areas: parts of a whole over days.
export function Stack(chart: StackProps) {
  const { series, before, flags = [], unit, height = 240, onNote, as } = chart
  const drawn = before ? [...series, before] : series
  const columns = columnsOf(drawn, chart)
  const grid = gridOf(series, columns)
  const parts = partsOf(grid)
  const marks = useMarks(grid, { unit, end: true, onNote })
  const area = as === "area" && columns.length > 1
  const id = useId()
  const step = stepOf(chart.weekly)
  const spans = spansOf(flags, columns, step)
  const heights = [0, ...parts.flat().map((p) => p.high), ...valuesOf(before ? [before] : [])]
  const rule = chart.rule && chart.rule.value <= 3 * Math.max(...heights) ? chart.rule : undefined
  const tops = rule ? [...heights, rule.value] : heights
  const domain: Pair = chart.share ? [0, 100] : domainOf(tops, unit)
  return (
    <Chart
      {...chart}
      kind="stack"
      marks={marks}
      has={hasValue(grid)}
      summary={`${plural(series.length, "series", "series")} stacked, ${bucketsIn(columns, chart.weekly)}`}
      behind={tableOf(columnsOf(drawn), drawn, chart)}
      legend={
        <>
          <Legend
            items={drawn.map((s) => ({
              key: s.key,
              name: s.name,
              slot: s.slot,
              shape: s === before ? "dashed" : s.hatched ? "hatch" : s.outlined ? "outline" : "area",
            }))}
          />
          <FlagList spans={spans} />
        </>
      }
    >
      {(width) => {
        const tall = width < 480 ? Math.min(height, 200) : height
        const margin = { top: spans.length > 0 ? 22 : 10, right: 16, bottom: 26, left: 48 }
        const [right, foot] = [width - margin.right, tall - margin.bottom]
        const plot = {
          ...plotOf(columns, domain, width, tall, margin, step),
          ...columnScale(columns, step, area, margin.left, right),
        }
        return (
          <>
            <svg
              width={width}
              height={tall}
              viewBox={`0 0 ${width} ${tall}`}
              {...marks.pointer(nearestPart(grid, parts, columns, plot))}
            >
              <defs>
                <Hatch id={id} slot={9} />
                {series.map((s) => s.hatched && <Hatch key={s.key} id={id + s.key} slot={s.slot} />)}
              </defs>
              <Values y={plot.y} domain={domain} unit={unit} left={margin.left} right={right} />
              <Days {...plot} columns={columns} left={margin.left} right={right} bottom={foot} zone="UTC" />
              <Flags spans={spans} plot={plot} hatch={id} />
              {series.map((s, row) => (
                <Layer
                  key={s.key}
                  series={s}
                  row={row}
                  grid={grid}
                  parts={parts[row]!}
                  plot={plot}
                  area={area}
                  hatch={s.hatched ? id + s.key : undefined}
                  spot={(column) => marks.spot(row, column, s.name)}
                />
              ))}
              {before && <Curve series={{ ...before, dashed: true }} plot={plot} />}
              {rule && (
                <g class="level">
                  <line x1={margin.left} x2={right} y1={plot.y(rule.value)} y2={plot.y(rule.value)} />
                  <text x={right} y={plot.y(rule.value) - 4} text-anchor="end">
                    {rule.name}
                  </text>
                </g>
              )}
            </svg>
            <Tip
              marks={marks}
              unit={unit}
              width={width}
              at={(mark) => ({ left: plot.at(mark.x) })}
              lines={([, column]) => [
                ...series.map((s, row) => ({ series: s, mark: grid[row]![column] })).reverse(),
                ...(before ? [{ series: before, mark: before.marks.find((m) => m.x === columns[column]) }] : []),
              ]}
            />
            {onNote && <AddNote marks={marks} at={plot.at} top={foot} onNote={onNote} />}
          </>
        )
      }}
    </Chart>
  )
}

// partsOf lays the values of each column on each other.
function partsOf(grid: Grid): Part[][] {
  const heights = grid[0]?.map(() => 0) ?? []
  return grid.map((row) =>
    row.map((mark, i) => ({ low: heights[i]!, high: (heights[i] = heights[i]! + (mark?.y ?? 0)) })),
  )
}

// columnScale puts each day in the middle of a column of equal width; an area reaches from edge to edge.
function columnScale(columns: string[], step: number, area: boolean, left: number, right: number) {
  const [first, last] = [dayNumber(columns[0] ?? 0), dayNumber(columns.at(-1) ?? 0)]
  const beside = area ? 0 : step / 2
  const x = linear([first - beside, last + beside], [left, Math.max(left + 1, right)])
  return { x, at: (day: string | number) => x(dayNumber(day)), wide: barWidth(x(step) - x(0)) }
}

function nearestPart(grid: Grid, parts: Part[][], columns: string[], plot: Plot) {
  return (px: number, py: number): Place | null => {
    const column = columns
      .map((day, i) => ({ i, away: Math.abs(plot.at(day) - px) }))
      .sort((a, b) => a.away - b.away)[0]?.i
    if (column === undefined) return null
    const filled = grid.flatMap((row, r) => (row[column] && row[column].y !== null ? [r] : []))
    const under = filled.find((r) => py >= plot.y(parts[r]![column]!.high)) ?? filled.at(-1)
    return under === undefined ? null : [under, column]
  }
}

interface LayerProps {
  series: Series
  row: number
  grid: Grid
  parts: Part[]
  plot: Plot & { wide: number }
  area: boolean
  hatch?: string // the id of its pattern
  spot: (column: number) => Record<string, unknown>
}

// Layer is one series of a stack. In an area its marks are columns that show under the pointer.
function Layer({ series, row, grid, parts, plot, area, hatch, spot }: LayerProps) {
  const places = grid[row]!.map((mark, i) => ({
    mark,
    i,
    x: plot.at(mark?.x ?? 0),
    top: plot.y(parts[i]!.high),
    foot: plot.y(parts[i]!.low),
  }))
  const runs = runsOf(series.marks, plot.step).map((run) => places.filter((p) => p.mark && run.includes(p.mark)))
  const fill = hatch && `url(#${hatch})`
  const kind = series.outlined ? "area outline" : "area"
  return (
    <g class={`slot-${series.slot}`}>
      {area && (
        <path
          class={kind}
          d={runs
            .map((run) =>
              areaPath(
                run.map((p) => [p.x, p.top]),
                run.map((p) => [p.x, p.foot]),
              ),
            )
            .join("")}
          fill={fill}
        />
      )}
      {runs.flat().map(({ i, x, top, foot }) => (
        <Spot key={i} {...spot(i)}>
          <rect
            class={area ? "column" : hatch ? "hatch" : kind}
            x={x - plot.wide / 2}
            width={plot.wide}
            y={top}
            height={Math.max(0, foot - top)}
            fill={fill}
          />
        </Spot>
      ))}
      {area && <LayerName series={series} places={runs.flat()} plot={plot} />}
    </g>
  )
}

// LayerName stands in an area where it is thickest, if it is 16 pixels or more there: of like places the middle one.
function LayerName({
  series,
  places,
  plot,
}: {
  series: Series
  places: { x: number; top: number; foot: number }[]
  plot: Plot
}) {
  const middle = plot.width / 2
  const inner = places.filter((p) => Math.abs(p.x - middle) < plot.width / 3)
  const thick = inner.sort(
    (a, b) => b.foot - b.top - (a.foot - a.top) || Math.abs(a.x - middle) - Math.abs(b.x - middle),
  )[0]
  if (!thick || thick.foot - thick.top < 16) return null
  return (
    <text
      class="layer"
      x={thick.x}
      y={(thick.top + thick.foot) / 2}
      dy="0.32em"
      text-anchor="middle"
      aria-hidden="true"
    >
      {cut(series.name)}
    </text>
  )
}
