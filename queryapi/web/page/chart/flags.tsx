import { shortDate } from "../format.ts"
import { Button } from "../parts/form.tsx"
import { Outside } from "../parts/link.tsx"
import type { Cursor } from "./cursor.ts"
import type { Plot } from "./lines.tsx"
import type { Flag } from "./marks.ts"
import { dayNumber, monday } from "./scale.ts"

// A Span is one flag of days that follow each other, with the columns that it stands at and the letter of the first.
export interface Span extends Flag {
  until: string
  from: string
  to: string
  letter: string
}

// spansOf joins flags of the same text on days that follow each other, and drops those outside the columns.
export function spansOf(flags: Flag[], columns: string[], step: number): Span[] {
  const [first = "", last = ""] = [columns[0], columns.at(-1)]
  const columnOf = (day: string) => (step === 7 ? monday(day) : day)
  const spans: Span[] = []
  for (const flag of flags.toSorted((a, b) => a.day.localeCompare(b.day))) {
    const until = flag.until ?? flag.day
    const [from, end] = [columnOf(flag.day), columnOf(until)]
    if (from > last || end < first) continue
    const to = end > last ? last : end
    const before = spans.find(
      (s) => s.text === flag.text && s.kind === flag.kind && dayNumber(flag.day) - dayNumber(s.until) <= step,
    )
    if (before) Object.assign(before, { until, to })
    else spans.push({ ...flag, until, from: from < first ? first : from, to, letter: "" })
  }
  const places = [...new Set(spans.map((s) => s.from))]
  for (const span of spans) {
    const i = places.indexOf(span.from)
    span.letter = String.fromCharCode(65 + (i % 26)) + (i < 26 ? "" : Math.floor(i / 26))
  }
  return spans
}

// Flags are letters above the days of the list below; days of an outage are hatched.
export function Flags({ spans, plot, hatch }: { spans: Span[]; plot: Plot; hatch: string }) {
  const { top, bottom } = plot.margin
  const foot = plot.height - bottom
  const half = Math.max(3, Math.abs(plot.x(plot.step) - plot.x(0)) / 2)
  return (
    <g class="flags" aria-hidden="true">
      {spans.map(({ day, kind, text, ...span }) => {
        const [from, to] = [plot.at(span.from), plot.at(span.to)]
        if (kind !== "outage")
          return <line key={day + text} class={`flag ${kind}`} x1={from} x2={from} y1={top} y2={foot} />
        return (
          <rect
            key={day + text}
            class="outage"
            x={from - half}
            width={to - from + 2 * half}
            y={top}
            height={foot - top}
            fill={`url(#${hatch})`}
          />
        )
      })}
      {[...new Map(spans.map((s) => [s.from, s.letter]))].map(([day, letter]) => (
        <text key={day} class="letter" x={plot.at(day)} y={top - 8} text-anchor="middle">
          {letter}
        </text>
      ))}
    </g>
  )
}

// FlagList says what the letters stand for.
export function FlagList({ spans }: { spans: Span[] }) {
  if (spans.length === 0) return null
  return (
    <ul class="flag-list">
      {spans.map(({ day, until, letter, text, href, onRemove }) => (
        <li key={day + text}>
          <b>{letter}</b> {shortDate(day)}
          {until > day && ` – ${shortDate(until)}`}{" "}
          <Outside url={href ?? ""} text={text} />
          {onRemove && (
            <Button aria-label={`Remove note: ${text}`} onClick={onRemove}>
              ×
            </Button>
          )}
        </li>
      ))}
    </ul>
  )
}

interface AddNoteProps {
  marks: Cursor
  at: (day: string | number) => number
  top: number
  onNote: (day: string) => void
}

// AddNote stands under the axis at the day that is shown; keys have n.
export function AddNote({ marks, at, top, onNote }: AddNoteProps) {
  const mark = marks.mark(marks.shown.value)
  if (!mark) return null
  const day = String(mark.x)
  return (
    <Button
      kind="tight add-note"
      tabIndex={-1}
      style={{ left: `${at(day)}px`, top: `${top}px` }}
      aria-label={`Add a note to ${shortDate(day)}`}
      onClick={() => onNote(day)}
    >
      +
    </Button>
  )
}
