// The shapes that charts draw. Each chart is a component of its own file: Lines (lines.tsx), Multiples (multiples.tsx),
// Dots (dots.tsx), Heat (heat.tsx), Stack (stack.tsx), Funnel (funnel.tsx), Spark (spark.tsx), Chip (chip.tsx). A chart
// is a card: its heading, its tools, its picture, and the table behind it. It computes no figure: a screen passes the
// API's.
import type { ComponentChildren } from "preact"
import type { Interval } from "../bodies.ts"

// A Mark is one figure. A null y is a gap, which no line crosses.
export interface Mark {
  key: string // of what it counts: an entity, a platform; with x it is unique in its chart
  x: string | number // a UTC day as 2026-11-06, or a category
  y: number | null
  range?: Interval // { reason } draws a hollow mark: too little data
  n?: number
  notes?: string[] // what to know before its value is read, such as "model changed"
  href?: string // the answers that it counts
}

// tooFew marks an interval that the API does not know: it leaves that of under 5 answers to one prompt null.
export const tooFew = { reason: "too_few_answers" }

// A Slot is a place in the palette: 0 is the brand, 9 to 13 are greys. A competitor keeps its own.
export type Slot = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 11 | 12 | 13

export interface Series {
  key: string
  name: string
  slot: Slot
  marks: Mark[]
  dashed?: boolean
  quiet?: boolean // drawn in grey, and in colour under the pointer
  hatched?: boolean // in Stack: a part that is of another kind, such as requests of unverified crawlers
  outlined?: boolean // in Stack: a part that is a forecast
}

export interface Flag {
  day: string
  until?: string // the last day, where there are more
  kind: "model" | "outage" | "note" | "goal" | "moved"
  text: string
  href?: string
  onRemove?: () => void // a button in the list
}

// Base has the properties of every chart. name is the accessible name of its figure and of its table.
export interface Base {
  name: string
  finding?: string // the heading, a sentence made of the API's figures; without, name is
  subtitle?: ComponentChildren // what is drawn, and n
  unit: "%" | "" | "USD" | (string & {}) // "%" follows a value at once, others after a space
  height?: number
  tools?: ComponentChildren // such as segments
  method?: ComponentChildren // how it is computed, in the menu
  csv?: { url: string; file: string } // where the API has its rows
  empty?: ComponentChildren // in place of the picture where no mark has a value
}

// OverDays is a chart whose x are UTC days.
interface OverDays extends Base {
  days?: { from: string; to: string } // the window, which the axis spans; without, it spans the marks
  weekly?: boolean // x is a Monday
}

export interface LinesProps extends OverDays {
  series: Series[] // the first is the brand's; its value, range and n have columns of their own in the table
  before?: Series // the window before, drawn dashed; x is the day of this window that it is compared with
  flags?: Flag[]
  bands?: "own" | "focus" | "none" // of the first series and the focused one, of the focused one, of none
  domain?: [number, number]
  onToggle?: (key: string) => void // the legend's buttons, of all series but the first: quiet is the screen's
  onNote?: (day: string) => void // n on a point, + under the axis
}

export interface MultiplesProps extends OverDays {
  charts: { key: string; title: string; rate?: string; chip?: ComponentChildren; series: Series[]; href?: string }[]
}

export interface DotsProps extends Base {
  head?: string // of the column of names
  columns: string[] // the heads of beside
  rows: {
    key: string
    name: string
    own?: boolean
    slot?: Slot
    now: Mark
    before?: Mark
    beside: ComponentChildren[]
  }[]
  domain: [number, number]
  reversed?: boolean // the better end is the lower one, as of positions
  bars?: boolean // in place of dots
}

export interface Head {
  key: string
  name: string
  href?: string
  own?: boolean
  group?: string // rows of one group stand together, under a heading that folds them
}

export interface HeatProps extends Base {
  head: string // of the column of names
  rows: Head[]
  columns: Head[]
  cell: (row: Head, column: Head) => Mark & { certain?: boolean } // an uncertain gap is outlined; of shares a certain one is
  scale: "share" | "gap"
  after?: { name: string; cell: (row: Head) => ComponentChildren }[] // columns that are no cells of the picture
  folded?: string[] // groups that are closed at first
}

export interface StackProps extends OverDays {
  series: Series[] // from the bottom up
  as: "bars" | "area"
  share?: boolean // values are shares of 100
  before?: Series // totals of the window before, dashed
  flags?: Flag[]
  rule?: { value: number; name: string } // a level to compare with, drawn up to three times the highest bar
  onNote?: (day: string) => void
}

export interface FunnelProps extends Base {
  steps: { key: string; name: string; value: number; text: string; href?: string }[]
}

// SparkProps has values from the first day to the last; the domain is that of all rows of its list.
export interface SparkProps {
  values: (number | null)[]
  ranges?: Interval[]
  domain: [number, number]
  label: string
}

// ChipProps has a verdict of the API, of a change or of a gap; short leaves out its difference.
export interface ChipProps {
  change: { verdict: string; difference?: number | null }
  short?: boolean
}
