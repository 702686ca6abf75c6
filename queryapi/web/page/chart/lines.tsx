import { type Signal, useSignal } from "@preact/signals"
import { useId } from "preact/hooks"
import { inColumn, inUnit, plural } from "../format.ts"
import { Days, Hatch, type Margin, Values } from "./axis.tsx"
import { bucketsIn, Chart, Legend, Spot, tableOf, Tip } from "./chart.tsx"
import { type Cursor, type Grid, type Place, useMarks } from "./cursor.ts"
import { AddNote, FlagList, Flags, spansOf } from "./flags.tsx"
import type { LinesProps, Mark, Series } from "./marks.ts"
import { areaPath, dayNumber, domainOf, linear, linePath, monday, type Pair, runsOf, type Scale } from "./scale.ts"

// columnsOf are all days that series have marks on, gaps included, and the ends of the window.
export function columnsOf(series: Series[], { days, weekly }: Pick<LinesProps, "days" | "weekly"> = {}): string[] {
  const marks = series.flatMap((s) => s.marks.map((m) => String(m.x)))
  const ends = days && marks.length > 0 ? [days.from, days.to] : []
  return [...new Set([...marks, ...(weekly ? ends.map(monday) : ends)])].sort()
}

export const stepOf = (weekly?: boolean) => (weekly ? 7 : 1)

// gridOf has for each series its mark of each column.
export function gridOf(series: Series[], columns: string[]): Grid {
  return series.map((s) => {
    const marks = new Map(s.marks.map((m) => [String(m.x), m]))
    return columns.map((x) => marks.get(x))
  })
}

// valuesOf are the values of series, and the ends of their ranges.
export function valuesOf(series: Series[]): number[] {
  return series.flatMap((s) =>
    s.marks.flatMap((m) =>
      m.y === null ? [] : [m.y, ...(m.range && "high" in m.range ? [m.range.low, m.range.high] : [])],
    ),
  )
}

// Lines draws series over days: lines with bands of uncertainty, gaps, flags, and the window before as a dashed line.
export function Lines(chart: LinesProps) {
  const { series, before, flags = [], unit, bands = "own", height = 280, onNote, onToggle } = chart
  const all = before ? [...series, { ...before, dashed: true }] : series
  const loud = all.filter((s) => !s.quiet)
  const columns = columnsOf(all, chart)
  const grid = gridOf(loud, columns)
  const marks = useMarks(grid, { unit, end: true, onNote })
  const step = stepOf(chart.weekly)
  const hint = useSignal<string | null>(null)
  const hatch = useId()
  const spans = spansOf(flags, columns, step)
  const items = all.map((s, i) => ({
    key: s.key,
    name: s.name,
    slot: s.slot,
    shape: s.dashed ? ("dashed" as const) : ("line" as const),
    on: i > 0 && i < series.length ? !s.quiet : undefined,
  }))
  return (
    <Chart
      {...chart}
      kind="lines"
      marks={marks}
      has={hasValue(grid)}
      summary={`${plural(all.length, "series", "series")}, ${bucketsIn(columns, chart.weekly)}`}
      behind={tableOf(columnsOf(series), all, chart, all[0])}
      legend={
        <>
          {all.length > 1 && <Legend onToggle={onToggle} onHint={(key) => (hint.value = key)} items={items} />}
          <FlagList spans={spans} />
        </>
      }
    >
      {(width) => {
        const tall = width < 480 ? Math.min(height, 200) : height
        const named = width >= 480 && loud.length > 1
        const margin = { top: spans.length > 0 ? 22 : 10, right: named ? 124 : 48, bottom: 26, left: 40 }
        const plot = plotOf(columns, chart.domain ?? domainOf(valuesOf(all), unit), width, tall, margin, step)
        const [right, foot] = [width - margin.right, tall - margin.bottom]
        return (
          <>
            <svg
              width={width}
              height={tall}
              viewBox={`0 0 ${width} ${tall}`}
              {...marks.pointer(nearest(grid, columns, plot))}
            >
              <defs>
                <Hatch id={hatch} slot={9} />
              </defs>
              <Values y={plot.y} domain={plot.domain} unit={unit} left={margin.left} right={right} />
              <Days {...plot} columns={columns} left={margin.left} right={right} bottom={foot} zone="UTC" />
              <Flags spans={spans} plot={plot} hatch={hatch} />
              {loud.toReversed().map((s) => (
                <Curve key={s.key} series={s} plot={plot} band={bands === "own" && s === series[0]} />
              ))}
              <Hint hint={hint} series={all} plot={plot} />
              <Lit marks={marks} series={loud} plot={plot} band={bands !== "none"} />
              {loud.map((s, row) => (
                <Spots key={s.key} series={s} row={row} grid={grid[row]!} marks={marks} plot={plot} name={s.name} />
              ))}
              <EndLabels series={loud.filter((s) => s.key !== before?.key)} plot={plot} unit={unit} named={named} />
            </svg>
            <Tip
              marks={marks}
              unit={unit}
              width={width}
              at={(mark) => ({ left: plot.at(mark.x) })}
              lines={([, column]) => loud.map((s, row) => ({ series: s, mark: grid[row]![column] }))}
            />
            {onNote && <AddNote marks={marks} at={plot.at} top={foot} onNote={onNote} />}
          </>
        )
      }}
    </Chart>
  )
}

export const hasValue = (grid: Grid) => grid.some((row) => row.some((mark) => (mark?.y ?? null) !== null))

export interface Plot {
  x: Scale // of day numbers
  y: Scale
  at: (day: string | number) => number // x of a day
  domain: Pair
  step: number // days from bucket to bucket
  width: number
  height: number
  margin: Margin
}

export function plotOf(
  columns: string[],
  domain: Pair,
  width: number,
  height: number,
  margin: Margin,
  step: number,
): Plot {
  const x = linear([dayNumber(columns[0] ?? 0), dayNumber(columns.at(-1) ?? 0)], [margin.left, width - margin.right])
  const y = linear(domain, [height - margin.bottom, margin.top])
  return { x, y, at: (day) => x(dayNumber(day)), domain, step, width, height, margin }
}

// nearest is the mark nearest to a point: first by column, then by value.
export function nearest(grid: Grid, columns: string[], plot: Plot) {
  const least = (places: { at: number; away: number }[]) => places.sort((a, b) => a.away - b.away)[0]?.at
  return (px: number, py: number): Place | null => {
    const filled = (i: number) => grid.some((row) => (row[i]?.y ?? null) !== null)
    const column = least(columns.flatMap((day, at) => (filled(at) ? [{ at, away: Math.abs(plot.at(day) - px) }] : [])))
    if (column === undefined) return null
    const values = grid.map((row) => row[column]?.y ?? null)
    return [least(values.flatMap((y, at) => (y === null ? [] : [{ at, away: Math.abs(plot.y(y) - py) }])))!, column]
  }
}

// Curve is a line, broken at gaps, with its band.
export function Curve({ series, plot, band }: { series: Series; plot: Plot; band?: boolean }) {
  const runs = runsOf(series.marks, plot.step)
  const kind = [`slot-${series.quiet ? 9 : series.slot}`, series.dashed && "before", series.quiet && "quiet"]
  return (
    <g class={kind.filter(Boolean).join(" ")}>
      {band && <path class="band" d={runs.map((run) => bandOf(run, plot)).join("")} />}
      <path class="line" d={runs.map((run) => linePath(run.map((m) => [plot.at(m.x), plot.y(m.y!)]))).join("")} />
    </g>
  )
}

// Hint is a line that is off, while its name in the legend has the pointer or the focus.
function Hint({ hint, series, plot }: { hint: Signal<string | null>; series: Series[]; plot: Plot }) {
  const line = series.find((s) => s.quiet && s.key === hint.value)
  return line ? <Curve series={line} plot={plot} /> : null
}

// Lit is what the pointer or the focus shows: the day, the line with its band, and the mark.
export function Lit({
  marks,
  series,
  plot,
  band,
  row,
}: {
  marks: Cursor
  series: Series[]
  plot: Plot
  band?: boolean
  row?: number
}) {
  const place = marks.shown.value
  const mark = marks.mark(place)
  if (!place || !mark || (row !== undefined && row !== place[0])) return null
  const [x, line] = [plot.at(mark.x), series[place[0]]!]
  return (
    <g class={`lit slot-${line.slot}`}>
      <line class="rule" x1={x} x2={x} y1={plot.margin.top} y2={plot.height - plot.margin.bottom} />
      <Curve series={line} plot={plot} band={band && place[0] > 0} />
      <circle cx={x} cy={plot.y(mark.y!)} r="4" />
    </g>
  )
}

const strip = 3 // pixels beside a lone mark

function bandOf(run: Mark[], { at, y }: Plot): string {
  const ranges = run.flatMap((m) => (m.range && "low" in m.range ? [{ x: at(m.x), ...m.range }] : []))
  const edges = ranges.length === 1 ? [-strip, strip].map((by) => ({ ...ranges[0]!, x: ranges[0]!.x + by })) : ranges
  return areaPath(
    edges.map((r) => [r.x, y(r.high)]),
    edges.map((r) => [r.x, y(r.low)]),
  )
}

interface SpotsProps {
  series: Series
  row: number
  grid: (Mark | undefined)[]
  marks: Cursor
  plot: Plot
  name: string
}

// Spots are the marks of a line. Without a pointer one sees the last one, lone ones, and those of too little data.
export function Spots({ series, row, grid, marks, plot, name }: SpotsProps) {
  const lone = new Set(runsOf(series.marks, plot.step).flatMap((run) => (run.length === 1 ? run : [])))
  const last = grid.findLast((m) => m && m.y !== null)
  const dense = Math.max(1.5, Math.min(4, (plot.width - plot.margin.left - plot.margin.right) / grid.length / 4))
  return (
    <g class={`dots slot-${series.slot}`}>
      {grid.map((mark, column) => {
        if (!mark || mark.y === null) return null
        const thin = mark.range && "reason" in mark.range
        const seen = (mark === last && !series.dashed) || lone.has(mark) || thin
        return (
          <Spot key={mark.x} {...marks.spot(row, column, name)}>
            <circle
              class={`${seen ? "seen" : ""} ${thin ? "thin" : ""}`}
              cx={plot.at(mark.x)}
              cy={plot.y(mark.y)}
              r={thin ? dense : 4}
            />
          </Spot>
        )
      })}
    </g>
  )
}

const labelHeight = 14

// EndLabels name the lines at their ends, moved apart where they would cover each other.
function EndLabels({ series, plot, unit, named }: { series: Series[]; plot: Plot; unit: string; named: boolean }) {
  const ends = series.flatMap((s) => {
    const last = s.marks.findLast((m) => m.y !== null)
    return last ? [{ series: s, last, y: plot.y(last.y!) }] : []
  })
  ends.sort((a, b) => a.y - b.y)
  ends.forEach((end, i) => (end.y = Math.max(end.y, (ends[i - 1]?.y ?? -Infinity) + labelHeight)))
  ends.reduceRight((foot, end) => (end.y = Math.min(end.y, foot)) - labelHeight, plot.height - plot.margin.bottom)
  const x = Math.max(...ends.map((end) => plot.at(end.last.x)))
  return (
    <g class="ends" aria-hidden="true">
      {ends.map(({ series: s, last, y }) => (
        <g key={s.key} class={`slot-${s.slot}`}>
          {named && (
            <path
              class="lead"
              d={linePath([
                [plot.at(last.x) + 4, plot.y(last.y!)],
                [x + 8, y],
              ])}
            />
          )}
          <text class={s === series[0] ? "own" : ""} x={x + 10} y={y} dy="0.32em">
            <title>{s.name}</title>
            {unit === "%" ? inColumn(last.y) : inUnit(last.y, unit)} {named && cut(s.name)}
          </text>
        </g>
      ))}
    </g>
  )
}

// cut is a name that fits into a chart.
export const cut = (name: string) => (name.length > 12 ? name.slice(0, 11) + "…" : name)
