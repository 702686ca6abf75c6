import { plural } from "../format.ts"
import { Days, Values } from "./axis.tsx"
import { bucketsIn, Chart, tableOf, Tip } from "./chart.tsx"
import { type Place, useMarks } from "./cursor.ts"
import { columnsOf, Curve, gridOf, hasValue, Lit, nearest, plotOf, Spots, stepOf, valuesOf } from "./lines.tsx"
import type { MultiplesProps } from "./marks.ts"
import { domainOf } from "./scale.ts"

const gap = 16

// Multiples draws small charts side by side, on the same axes. The first series of each has its marks.
export function Multiples(chart: MultiplesProps) {
  const { charts, unit, height = 116 } = chart
  const all = charts.flatMap((c) => c.series)
  const columns = columnsOf(all, chart)
  const step = stepOf(chart.weekly)
  const leads = charts.map((c) => ({ ...c.series[0]!, name: c.title }))
  const grid = gridOf(leads, columns)
  const marks = useMarks(grid, { unit, end: true })
  const domain = domainOf(valuesOf(all), unit)
  return (
    <Chart
      {...chart}
      kind="multiples"
      marks={marks}
      has={hasValue(grid)}
      summary={`${plural(charts.length, "small chart")} of ${bucketsIn(columns, chart.weekly)} on the same axes`}
      behind={tableOf(columnsOf(leads), leads, chart)}
    >
      {(full) => {
        const across = Math.max(1, Math.min(4, Math.floor((full + gap) / (150 + gap))))
        const width = Math.floor((full - gap * (across - 1)) / across)
        const margin = { top: 6, right: 6, bottom: 22, left: 32 }
        const plot = plotOf(columns, domain, width, height, margin, step)
        const foot = height - margin.bottom
        const near =
          (row: number) =>
          (x: number, y: number): Place | null => {
            const place = nearest(grid.slice(row, row + 1), columns, plot)(x, y)
            return place && [row, place[1]]
          }
        return charts.map((c, row) => (
          <div key={c.key} style={{ width: `${width}px` }}>
            <h3>
              <a href={c.href}>{c.title}</a> {c.rate}
            </h3>
            {charts.some((one) => one.chip) && <div class="chip">{c.chip}</div>}
            <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`} {...marks.pointer(near(row))}>
              <Values
                y={plot.y}
                domain={domain}
                unit={unit}
                left={margin.left}
                right={width - margin.right}
                count={2}
              />
              <Days {...plot} columns={columns} left={margin.left} right={width - margin.right} bottom={foot} />
              {c.series.toReversed().map((s) => (
                <Curve key={s.key} series={s} plot={plot} band={s === c.series[0]} />
              ))}
              <Lit marks={marks} series={leads} plot={plot} row={row} />
              <Spots series={leads[row]!} row={row} grid={grid[row]!} marks={marks} plot={plot} name={c.title} />
            </svg>
            <Tip
              marks={marks}
              unit={unit}
              width={width}
              row={row}
              at={(mark) => ({ left: plot.at(mark.x) })}
              lines={([, column]) =>
                c.series.map((s, i) => ({
                  series: s,
                  mark: i === 0 ? grid[row]![column] : s.marks.find((m) => m.x === columns[column]),
                }))
              }
            />
          </div>
        ))
      }}
    </Chart>
  )
}
