import type { ComponentChildren } from "preact"
import { useLayoutEffect, useState } from "preact/hooks"
import { date, inColumn, inUnit, none, number, plural } from "../format.ts"
import { Card } from "../parts/card.tsx"
import { bounds, boundsInColumn } from "../parts/figure.tsx"
import { Button } from "../parts/form.tsx"
import { Icon } from "../parts/icon.tsx"
import { Menu } from "../parts/menu.tsx"
import { Download } from "../parts/table.tsx"
import { type Cursor, isDay, type Place } from "./cursor.ts"
import type { Base, Mark, Series } from "./marks.ts"
import { save } from "./save.ts"

// A Behind is the table behind a picture: its head, and rows whose first cell is their name.
export interface Behind {
  head: string[]
  rows: { key: string; href?: string; cells: string[] }[]
}

interface Props extends Base {
  kind?: string // class of the figure
  marks: Cursor
  has: boolean // a mark has a value
  summary: string // such as "6 series, 28 days"
  behind?: Behind // a chart that is a table itself has none
  legend?: ComponentChildren
  children: (width: number) => ComponentChildren
}

// Chart is the card around a picture: heading, tools, figure, legend, and the table behind it. t folds the table.
export function Chart({ kind = "", marks, has, summary, behind, legend, children, ...chart }: Props) {
  const { name, finding, subtitle, tools, csv, empty, method } = chart
  const [folded, fold] = useState(true)
  const width = useWidth(marks.box)
  const onKeyUp = (event: KeyboardEvent) =>
    event.key === "t" && behind && (event.target as Element).closest("[data-at]") && fold(!folded)
  return (
    <Card
      name={finding ?? name}
      title={subtitle}
      tools={
        <>
          {tools}
          {behind && (
            <Button
              aria-expanded={!folded}
              aria-label={`${folded ? "Show" : "Hide"} table: ${name}`}
              onClick={() => fold(!folded)}
            >
              {folded ? "Show table" : "Hide table"}
            </Button>
          )}
          {csv && <Download url={csv.url} file={csv.file} name={name} />}
          {has && (
            <Menu name={`More: ${name}`} kind="button plain tight" shows={<Icon name="more" />}>
              {(["svg", "png"] as const).map((kind) => (
                <Button
                  key={kind}
                  aria-label={`Download ${kind.toUpperCase()}: ${name}`}
                  onClick={() => marks.box.current && save(marks.box.current, name, kind)}
                >
                  <Icon name="download" /> {kind.toUpperCase()}
                </Button>
              ))}
              {method && <div class="small soft">{method}</div>}
            </Menu>
          )}
        </>
      }
    >
      <div class="inside">
        <figure class={`chart ${kind}`} aria-label={name} ref={marks.box} onKeyUp={onKeyUp} {...marks.handlers}>
          <p class="hidden">
            {finding} Chart, {summary}
            {behind && "; a table follows"}.
          </p>
          {!has ? <div class="soft">{empty ?? "No data in this window."}</div> : width > 0 && children(width)}
        </figure>
        {has && legend}
      </div>
      {behind && <PlainTable name={name} behind={behind} folded={folded} />}
    </Card>
  )
}

// PlainTable has a chart's figures; folded, it is there for screen readers.
export function PlainTable({ name, behind, folded }: { name: string; behind: Behind; folded?: boolean }) {
  return (
    <div class={folded ? "hidden" : "scroll"} tabIndex={folded ? undefined : 0}>
      <table aria-label={name}>
        <thead>
          <tr>
            {behind.head.map((text, i) => (
              <th key={text} scope="col" class={i > 0 && text !== "Notes" ? "number" : ""}>
                {text}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {behind.rows.map(({ key, href, cells }) => (
            <tr key={key}>
              <th scope="row">{folded || !href ? key : <a href={href}>{key}</a>}</th>
              {cells.map((text, i) => (
                <td key={i} class={behind.head[i + 1] === "Notes" ? "" : "number"}>
                  {text}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

// bucketsIn counts the buckets that a chart's columns are.
export const bucketsIn = (columns: string[], weekly?: boolean) => plural(columns.length, weekly ? "week" : "day")

// tableOf has a row for each bucket and a column for each series. Of one that leads, value, range, n and notes have
// columns of their own.
export function tableOf(
  columns: string[],
  series: Series[],
  { unit, weekly }: { unit: string; weekly?: boolean },
  lead?: Series,
): Behind {
  const others = series.filter((s) => s !== lead)
  const decimal = unit === "%" || series.some((s) => s.marks.some((m) => m.y! % 1))
  const [write, range] = decimal ? [inColumn, boundsInColumn] : [inUnit, bounds]
  const value = (mark?: Mark) => (mark ? write(mark.y, unit) : none)
  // whole is a mark in one cell: value, range and n.
  const whole = (mark?: Mark) => {
    const ends = range(mark?.range ?? null)
    return [value(mark), ends && `(${ends})`, mark?.n !== undefined && `n = ${number(mark.n)}`].filter(Boolean).join(" ")
  }
  const marks = new Map([...series].map((s) => [s, new Map(s.marks.map((m) => [String(m.x), m]))]))
  return {
    head: [
      weekly ? "Week of" : "Day",
      ...(lead ? [others.length > 0 ? lead.name : "Value", "Interval", "n", "Notes"] : []),
      ...others.map((s) => s.name),
    ],
    rows: columns.map((x) => {
      const mark = lead && marks.get(lead)?.get(x)
      const first = lead
        ? [
            value(mark),
            range(mark?.range ?? null) ?? "",
            mark?.n === undefined ? "" : number(mark.n),
            mark?.notes?.join(", ") ?? "",
          ]
        : []
      return { key: x, href: mark?.href, cells: [...first, ...others.map((s) => whole(marks.get(s)!.get(x)))] }
    }),
  }
}

export interface LegendItem {
  key: string
  name: string
  slot: number
  shape?: "line" | "dashed" | "area" | "hatch" | "outline"
  on?: boolean // of a toggle
}

interface LegendProps {
  items: LegendItem[]
  onToggle?: (key: string) => void
  onHint?: (key: string | null) => void // the item under the pointer or the focus
}

// Legend names the series. With onToggle those with on are buttons, and what they do is said.
export function Legend({ items, onToggle, onHint }: LegendProps) {
  const [said, say] = useState("")
  return (
    <div class="legend">
      {items.map(({ key, name, slot, shape = "line", on }) => {
        const swatch = (
          <svg class={`swatch slot-${on === false ? 9 : slot}`} width="18" height="10" aria-hidden="true">
            {shape === "line" || shape === "dashed" ? (
              <path class={`line ${shape}`} d="M0,5L18,5" />
            ) : (
              <rect class={`area ${shape}`} width="18" height="10" />
            )}
          </svg>
        )
        return onToggle && on !== undefined ? (
          <Button
            key={key}
            aria-pressed={on}
            onPointerEnter={() => onHint?.(key)}
            onPointerLeave={() => onHint?.(null)}
            onFocus={() => onHint?.(key)}
            onBlur={() => onHint?.(null)}
            onClick={() => (onToggle(key), say(`${name} ${on ? "hidden" : "shown"}`))}
          >
            {swatch} {name}
          </Button>
        ) : (
          <span key={key}>
            {swatch} {name}
          </span>
        )
      })}
      <span role="status" class="hidden">
        {said}
      </span>
    </div>
  )
}

interface TipProps {
  marks: Cursor
  unit: string
  at: (mark: Mark) => { left: number; top?: number }
  width: number
  row?: number // without, it describes all rows
  lines: (place: Place) => { series: { key: string; name: string; slot: number }; mark?: Mark }[]
}

// Tip repeats for the pointer what the names of marks say. It lets the pointer through.
export function Tip({ marks, unit, at, width, row, lines }: TipProps) {
  const place = marks.shown.value
  const shown = marks.mark(place)
  if (!place || !shown || (row !== undefined && row !== place[0])) return null
  const { left, top = 0 } = at(shown)
  const { range, notes: texts = [] } = shown
  const notes = range && "reason" in range ? [...texts, range.reason.replaceAll("_", " ")] : texts
  const side = left > width / 2 ? { right: `${width - left + 12}px` } : { left: `${left + 12}px` }
  return (
    <div class="tip" style={{ ...side, top: `${top}px` }} aria-hidden="true">
      {isDay(shown.x) && <div class="soft small">{date(String(shown.x))}</div>}
      {lines(place).map(
        ({ series, mark }) =>
          mark &&
          mark.y !== null && (
            <div key={series.key} class={mark === shown ? "active" : ""}>
              <i class={`slot-${series.slot}`} /> {series.name}
              {!isDay(shown.x) && shown.x !== series.name && `, ${shown.x}`} <b>{inUnit(mark.y, unit)}</b>{" "}
              <span class="soft">{bounds(mark.range ?? null, unit)}</span>{" "}
              {mark.n !== undefined && <span class="soft small">n = {number(mark.n)}</span>}
            </div>
          ),
      )}
      {notes.map((note) => (
        <div key={note} class="small">
          {note}
        </div>
      ))}
    </div>
  )
}

// Spot is a mark in an SVG: a link where it counts answers.
export function Spot({ children, ...attributes }: { children: ComponentChildren } & Record<string, unknown>) {
  return attributes.href ? <a {...attributes}>{children}</a> : <g {...attributes}>{children}</g>
}

const widths = new Map<Element, (width: number) => void>()
const observer = new ResizeObserver((entries) => {
  for (const { target, contentRect } of entries) widths.get(target)?.(Math.round(contentRect.width))
})
addEventListener("beforeprint", () => widths.forEach((set, box) => set(Math.min(680, box.clientWidth))))
addEventListener("afterprint", () => widths.forEach((set, box) => set(box.clientWidth)))

// useWidth is the width of an element as it is now; on paper a chart is 680 pixels wide.
export function useWidth(box: { current: HTMLElement | null }): number {
  const [width, set] = useState(0)
  useLayoutEffect(() => {
    const element = box.current
    if (!element) return
    set(element.clientWidth)
    widths.set(element, set)
    observer.observe(element)
    return () => {
      widths.delete(element)
      observer.unobserve(element)
    }
  }, [])
  return width
}
