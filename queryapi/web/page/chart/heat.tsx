import { useEffect, useState } from "preact/hooks"
import { inColumn, plural } from "../format.ts"
import { Chart, Tip } from "./chart.tsx"
import { signed } from "./chip.tsx"
import { type Cursor, type Grid, useMarks } from "./cursor.ts"
import { placeIn } from "./dots.tsx"
import { hasValue } from "./lines.tsx"
import type { Head, HeatProps, Mark } from "./marks.ts"

const ends = [10, 25, 40, 60, 80] // of the ramp's steps
const seenFirst = 40 // rows, which fill a screen; the others are drawn when these are painted

// Heat is a table whose cells are coloured by their figures. Its cells are one tab stop; arrows go from cell to cell.
export function Heat(chart: HeatProps) {
  const { rows, columns, cell, unit, scale, folded = [] } = chart
  const write = (value: number) => (scale === "gap" ? signed(value) : inColumn(value, unit))
  const [closed, close] = useState(new Set(folded))
  const [limit, draw] = useState(seenFirst)
  useEffect(() => draw(Number.POSITIVE_INFINITY), [])
  const groups = [...new Set(rows.map((row) => row.group ?? ""))].map((name) => ({
    name,
    members: rows.filter((row) => (row.group ?? "") === name),
  }))
  const open = groups.flatMap(({ name, members }) => (closed.has(name) ? [] : members))
  const grid = open.map((row) => columns.map((column) => cell(row, column)))
  const marks = useMarks(grid, { unit, table: true, write })
  const fold = (group: string) =>
    close(new Set(closed.has(group) ? [...closed].filter((name) => name !== group) : [...closed, group]))
  return (
    <Chart
      {...chart}
      kind="heat"
      marks={marks}
      has={hasValue(grid) || closed.size > 0}
      summary={`${plural(rows.length, "row")}, ${plural(columns.length, "column")}`}
    >
      {(width) => (
        <>
          <div class="scroll">
            <table aria-label={chart.name} {...marks.pointer()}>
              <thead>
                <tr>
                  <th scope="col">{chart.head}</th>
                  {columns.map((column) => (
                    <th key={column.key} scope="col" class="number">
                      {column.href ? <a href={column.href}>{column.name}</a> : column.name}
                    </th>
                  ))}
                  {chart.after?.map((column) => (
                    <th key={column.name} scope="col" class="number">
                      {column.name}
                    </th>
                  ))}
                </tr>
              </thead>
              {groups.map(({ name: group, members }) => (
                <tbody key={group}>
                  {group && (
                    <tr class="group">
                      <th scope="rowgroup" colSpan={1 + columns.length + (chart.after?.length ?? 0)}>
                        <button type="button" aria-expanded={!closed.has(group)} onClick={() => fold(group)}>
                          {closed.has(group) ? "▸" : "▾"} {group} ({members.length})
                        </button>
                      </th>
                    </tr>
                  )}
                  {!closed.has(group) &&
                    members
                      .map((row) => ({ row, at: open.indexOf(row) }))
                      .filter(({ at }) => at < limit)
                      .map(({ row, at }) => (
                        <Row key={row.key} {...chart} write={write} row={row} at={at} grid={grid} marks={marks} />
                      ))}
                </tbody>
              ))}
            </table>
          </div>
          <Tip
            marks={marks}
            unit={unit}
            width={width}
            at={() => placeIn(marks)}
            lines={([row, column]) => [
              { series: { key: "", name: open[row]!.name, slot: open[row]!.own ? 0 : 9 }, mark: grid[row]![column] },
            ]}
          />
        </>
      )}
    </Chart>
  )
}

function Row({
  row,
  at,
  columns,
  after = [],
  grid,
  marks,
  scale,
  write,
}: HeatProps & { row: Head; at: number; grid: Grid; marks: Cursor; write: (value: number) => string }) {
  return (
    <tr class={row.own ? "own" : ""}>
      <th scope="row">{row.href ? <a href={row.href}>{row.name}</a> : row.name}</th>
      {columns.map((column, i) => {
        const mark: (Mark & { certain?: boolean }) | undefined = grid[at]![i]
        if (!mark || mark.y === null) return <td key={column.key} class="number" />
        const thin = mark.range && "reason" in mark.range
        const attributes = marks.spot(at, i, row.name)
        const kind = thin
          ? "thin"
          : scale === "share"
            ? `ramp-${1 + ends.filter((end) => mark.y! > end).length} ${mark.certain ? "certain" : ""}`
            : kindOfGap(mark.y, mark.certain)
        const text = thin ? "–" : write(mark.y)
        return (
          <td key={column.key} class={`number ${kind}`}>
            {mark.href ? <a {...attributes}>{text}</a> : <span {...attributes}>{text}</span>}
          </td>
        )
      })}
      {after.map((column) => (
        <td key={column.name} class="number">
          {column.cell(row)}
        </td>
      ))}
    </tr>
  )
}

// kindOfGap fills certain gaps by their size and outlines others.
function kindOfGap(gap: number, certain?: boolean): string {
  if (!certain) return "outlined"
  const size = Math.abs(gap)
  return `${gap > 0 ? "ahead" : "behind"} size-${size > 25 ? 3 : size > 10 ? 2 : 1}`
}
