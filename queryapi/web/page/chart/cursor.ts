import { type Signal, useSignal } from "@preact/signals"
import { useEffect, useRef } from "preact/hooks"
import { date, inUnit, number } from "../format.ts"
import { bounds } from "../parts/figure.tsx"
import type { Mark } from "./marks.ts"

export const isDay = (x: string | number) => typeof x === "string" && /^\d{4}-\d\d-\d\d$/.test(x)

// describe is the name of a mark: what it counts, where, its value, range, n and notes.
export function describe(name: string, mark: Mark, write: (value: number) => string): string {
  const range = bounds(mark.range ?? null)
  const value = mark.y === null ? "no data" : write(mark.y)
  const n = mark.n === undefined ? "" : `, n = ${number(mark.n)}`
  const where = isDay(mark.x) ? date(String(mark.x)) : String(mark.x)
  const subject = where === name ? name : `${name}, ${where}`
  return [`${subject}: ${value}${range ? ` (${range})` : ""}${n}`, ...(mark.notes ?? [])].join(", ")
}

export type Grid = (Mark | undefined)[][]
export type Place = [row: number, column: number]
type Handlers = Record<string, (event: never) => void>

export interface Cursor {
  box: { current: HTMLElement | null } // of the chart
  shown: Signal<Place | null> // the mark under the pointer or the focus
  mark: (place: Place | null) => Mark | undefined
  spot: (row: number, column: number, name: string) => Record<string, unknown> // attributes of a mark's element
  handlers: Handlers // of the figure
  pointer: (near?: (x: number, y: number) => Place | null) => Handlers // of a picture; without near, of cells
}

interface Options {
  unit: string
  end?: boolean // the tab stop is at first the last mark of the first row
  table?: boolean // a screen reader finds all marks, as cells
  write?: (value: number) => string // as cells have it, whose name it is in
  onNote?: (day: string) => void
}

const mostRead = 200 // marks of a picture, up to which a screen reader finds each

// useMarks makes the marks of a chart one tab stop. Arrows go from mark to mark, in rows such as series. What is shown is
// a signal, so that only what shows it is drawn again.
export function useMarks(grid: Grid, { unit, end, table, write = (value) => inUnit(value, unit), onNote }: Options): Cursor {
  const box = useRef<HTMLElement>(null)
  const shown = useSignal<Place | null>(null)
  const stop = useRef<Place | null>(null)
  // A first tap shows a mark, the second one opens it.
  const pressed = useRef<{ place: Place | null; opens: boolean } | undefined>(undefined)
  const markAt = (place: Place | null) => {
    const mark = place ? grid[place[0]]?.[place[1]] : undefined
    return mark && mark.y !== null ? mark : undefined
  }
  const columnsOf = (row: number) => (grid[row] ?? []).flatMap((_, column) => (markAt([row, column]) ? [column] : []))
  const elementAt = (place: Place | null) => box.current?.querySelector<SVGElement>(`[data-at="${place}"]`)
  const placeOf = (event: Event) =>
    (event.target as Element).closest("[data-at]")?.getAttribute("data-at")?.split(",").map(Number) as Place | undefined
  useEffect(() => {
    const hide = ({ type, key, target }: Event & { key?: string }) => {
      if (type === "keydown") pressed.current = undefined
      if (type === "keydown" ? key === "Escape" : !box.current?.contains(target as Node)) shown.value = null
    }
    const kinds = ["keydown", "pointerdown"]
    kinds.forEach((kind) => document.addEventListener(kind, hide, true))
    return () => kinds.forEach((kind) => document.removeEventListener(kind, hide, true))
  }, [])
  if (!markAt(stop.current)) {
    const first = Math.max(
      0,
      grid.findIndex((_, row) => columnsOf(row).length > 0),
    )
    stop.current = [first, columnsOf(first).at(end ? -1 : 0) ?? 0]
  }
  const many = !table && grid.flat().filter((mark) => mark && mark.y !== null).length > mostRead
  const stand = (place: Place) => {
    const [from, to] = [elementAt(stop.current), elementAt(place)]
    from?.setAttribute("tabindex", "-1")
    if (many) from?.setAttribute("aria-hidden", "true")
    to?.setAttribute("tabindex", "0")
    to?.removeAttribute("aria-hidden")
    stop.current = place
  }

  return {
    box,
    shown,
    mark: markAt,
    spot: (row, column, name) => {
      const mark = grid[row]![column]!
      const stands = `${row},${column}` === String(stop.current)
      const range = mark.range && "low" in mark.range ? mark.range : null
      return {
        "data-at": `${row},${column}`,
        "data-key": mark.key,
        "data-x": mark.x,
        "data-value": mark.y,
        "data-low": range?.low,
        "data-high": range?.high,
        "data-n": mark.n,
        href: mark.href,
        role: mark.href ? "link" : "img",
        tabindex: stands ? 0 : -1,
        "aria-label": describe(name, mark, write),
        "aria-hidden": many && !stands ? "true" : undefined,
      }
    },
    handlers: {
      onFocusIn: (event: FocusEvent) => {
        const place = placeOf(event)
        if (!place) return
        stand(place)
        if (!pressed.current) shown.value = place // a pointer shows the mark nearest to it
      },
      onFocusOut: (event: FocusEvent) => {
        if (String(placeOf(event)) === String(shown.value)) shown.value = null
      },
      onPointerLeave: (event: PointerEvent) => {
        if (event.pointerType !== "touch") shown.value = null // a finger leaves before it clicks
      },
      onKeyDown: (event: KeyboardEvent) => {
        const place = placeOf(event)
        if (!place || event.ctrlKey || event.metaKey || event.altKey) return
        if (event.key === "n" && onNote) {
          event.preventDefault()
          onNote(String(markAt(place)!.x))
        }
        const next = step(
          event.key,
          place,
          grid.map((_, row) => columnsOf(row)),
        )
        if (!next) return
        event.preventDefault()
        elementAt(next)?.focus()
      },
    },
    pointer: (near) => {
      const show = (event: PointerEvent) => {
        const { x, y } = (event.currentTarget as Element).getBoundingClientRect()
        const place = near ? near(event.clientX - x, event.clientY - y) : (placeOf(event) ?? null)
        if (String(place) !== String(shown.value)) shown.value = place
        return place
      }
      return {
        onPointerMove: (event: PointerEvent) => event.pointerType !== "touch" && show(event),
        onPointerDown: (event: PointerEvent) => {
          const before = String(shown.value)
          const place = show(event)
          pressed.current = { place, opens: event.pointerType !== "touch" || !place || before === String(place) }
        },
        onClick: (event: MouseEvent) => {
          const { ctrlKey, metaKey, shiftKey } = event
          const target = placeOf(event) ?? null
          const { place, opens } = pressed.current ?? { place: target, opens: true }
          pressed.current = undefined
          if (opens && String(place) === String(target)) return
          event.preventDefault()
          if (opens)
            elementAt(place)?.dispatchEvent(
              new MouseEvent("click", { bubbles: true, cancelable: true, ctrlKey, metaKey, shiftKey }),
            )
        },
      }
    },
  }
}

// step is where a key leads from a place, among the columns that each row has marks in.
function step(key: string, [row, column]: Place, columns: number[][]): Place | undefined {
  const along = columns[row]!
  const at = along.indexOf(column)
  const next =
    along[
      {
        ArrowLeft: at - 1,
        ArrowRight: at + 1,
        Home: 0,
        End: along.length - 1,
        PageUp: Math.max(0, at - 7),
        PageDown: Math.min(along.length - 1, at + 7),
      }[key] ?? -1
    ]
  if (next !== undefined) return next === column ? undefined : [row, next]
  const down = { ArrowUp: -1, ArrowDown: 1 }[key]
  for (let other = row + (down ?? 0); down && columns[other]; other += down) {
    const near = columns[other]!.toSorted((a, b) => Math.abs(a - column) - Math.abs(b - column))[0]
    if (near !== undefined) return [other, near]
  }
  return undefined
}
