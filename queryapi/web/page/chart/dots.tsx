import { useId, useRef } from "preact/hooks"
import { plural } from "../format.ts"
import { Across } from "./axis.tsx"
import { Chart, Spot, Tip, useWidth } from "./chart.tsx"
import { type Cursor, useMarks } from "./cursor.ts"
import { hasValue } from "./lines.tsx"
import type { DotsProps, Mark } from "./marks.ts"
import { linear, type Scale } from "./scale.ts"

const height = 40
const edge = 8 // pixels beside the scale of a row

// Dots is a table with a picture in each row: the value as a dot on its interval, and the one before as a hollow dot; or
// the value as a bar.
export function Dots(chart: DotsProps) {
  const { rows, unit } = chart
  const grid = rows.map((row) => [row.now, row.before])
  const marks = useMarks(grid, { unit, table: true })
  return (
    <Chart {...chart} kind="rows" marks={marks} has={hasValue(grid)} summary={plural(rows.length, "row")}>
      {(width) => <Rows {...chart} marks={marks} full={width} />}
    </Chart>
  )
}

function Rows({
  name,
  head = "Name",
  columns,
  rows,
  domain,
  reversed,
  bars,
  unit,
  marks,
  full,
}: DotsProps & { marks: Cursor; full: number }) {
  const axis = useRef<HTMLTableCellElement>(null)
  const width = useWidth(axis)
  const x = linear(reversed ? [domain[1], domain[0]] : domain, [edge, Math.max(edge, width - edge)]) // 0 wide until it is measured
  const at = (mark: Mark) => ({ left: (axis.current?.offsetLeft ?? 0) + x(mark.y!), top: placeIn(marks).top })
  return (
    <>
      <div class="scroll">
        <table aria-label={name}>
          <thead>
            <tr>
              <th scope="col">{head}</th>
              <td class="picture" ref={axis}>
                <Across x={x} domain={domain} unit={unit} width={width} />
              </td>
              {columns.map((text) =>
                text ? (
                  <th key={text} scope="col" class="number">
                    {text}
                  </th>
                ) : (
                  <td key={text} />
                ),
              )}
            </tr>
          </thead>
          <tbody>
            {rows.map((row, i) => (
              <tr key={row.key} class={row.own ? "own" : ""}>
                <th scope="row">{row.now.href ? <a href={row.now.href}>{row.name}</a> : row.name}</th>
                <td class="picture">
                  <svg
                    width={width}
                    height={height}
                    class={`slot-${row.slot ?? (row.own ? 0 : 9)}`}
                    {...marks.pointer(() => [i, 0])}
                  >
                    <Across x={x} domain={domain} unit={unit} width={width} height={height} />
                    <Strip mark={row.now} x={x} />
                    <Way from={row.before} to={row.now} x={x} />
                    {[row.before, row.now].map(
                      (mark, k) =>
                        mark &&
                        mark.y !== null && (
                          <Spot key={k} {...marks.spot(i, 1 - k, row.name)}>
                            {bars ? (
                              <rect class="area" x={x(0)} y="10" width={x(mark.y) - x(0)} height={height - 20} />
                            ) : (
                              <circle
                                class={k === 0 || (mark.range && "reason" in mark.range) ? "thin" : ""}
                                cx={x(mark.y)}
                                cy={height / 2}
                                r={k === 0 ? 3 : 5}
                              />
                            )}
                          </Spot>
                        ),
                    )}
                  </svg>
                </td>
                {row.beside.map((cell, j) => (
                  <td key={j} class="number">
                    {cell}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <Tip
        marks={marks}
        unit={unit}
        width={full}
        at={at}
        lines={([row]) => [
          { series: { ...rows[row]!, slot: rows[row]!.slot ?? 9 }, mark: marks.mark(marks.shown.value) },
        ]}
      />
    </>
  )
}

// placeIn is where the shown mark stands in its figure.
export function placeIn({ box, shown }: Cursor): { left: number; top: number } {
  const figure = box.current?.getBoundingClientRect()
  const mark = box.current?.querySelector(`[data-at="${shown.value}"]`)?.getBoundingClientRect()
  return { left: (mark?.x ?? 0) - (figure?.x ?? 0), top: (mark?.bottom ?? 0) - (figure?.y ?? 0) + 6 }
}

// Strip is an interval that fades to its ends: they are no walls.
function Strip({ mark, x }: { mark: Mark; x: Scale }) {
  const id = useId()
  if (!mark.range || !("low" in mark.range) || mark.y === null) return null
  const [low, high] = [x(mark.range.low), x(mark.range.high)].sort((a, b) => a - b) as [number, number]
  return (
    <>
      <linearGradient id={id}>
        <stop class="faint" offset="0" />
        <stop class="full" offset={high > low ? (x(mark.y) - low) / (high - low) : 0.5} />
        <stop class="faint" offset="1" />
      </linearGradient>
      <path class="strip" d={`M${low},${height / 2 - 5}H${high}v10H${low}Z`} fill={`url(#${id})`} />
    </>
  )
}

// Way leads from the value before to the present one.
function Way({ from, to, x }: { from?: Mark; to: Mark; x: Scale }) {
  if (!from || from.y === null || to.y === null) return null
  return <line class="way" x1={x(from.y)} x2={x(to.y)} y1={height / 2} y2={height / 2} />
}
