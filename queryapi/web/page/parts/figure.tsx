import type { ComponentChildren } from "preact"
import { useContext } from "preact/hooks"
import type { Change, Interval, Totals } from "../bodies.ts"
import { Chip, signed } from "../chart/chip.tsx"
import { inColumn, number, plural } from "../format.ts"
import { query } from "../route.ts"
import { Chapter } from "./chapter.ts"

// bounds is a confidence interval, low–high, or that there is too little to know one.
export function bounds(interval: Interval, unit = "", write = number): string | null {
  if (!interval) return null
  if (!("low" in interval)) return "too little data"
  const { low, high } = interval
  return low < 0 ? `${write(low)} to ${write(high)}${unit}`.replaceAll("-", "−") : `${write(low)}–${write(high)}${unit}`
}

// boundsInColumn has a decimal, as what stands beside it.
export const boundsInColumn = (interval: Interval, unit = "") => bounds(interval, unit, (value) => inColumn(value, ""))

// shownOf says how often a platform showed its overview, with the interval where some were not shown; null for a
// platform that always answers, and for several.
export function shownOf({ resultCount, notShown, shownRateInterval }: Totals, platform = query.value.get("platform")) {
  const mayBeMissing = notShown > 0 || platform?.endsWith("-overview")
  if (!platform || platform.includes(",") || !mayBeMissing || resultCount + notShown === 0) return null
  const interval = notShown > 0 ? ` (${bounds(shownRateInterval, "%") ?? "too little data"})` : ""
  return `overview shown in ${number(resultCount)} of ${plural(resultCount + notShown, "capture")}${interval}`
}

interface Props {
  name: string
  value: string
  interval?: Interval
  unit?: string // of the interval
  n?: number
  change?: Change
  href?: string
  chart?: { onShow: () => void; on: boolean } // its name shows it in the chart below
  children?: ComponentChildren
}

// Figure is one number with its interval and n. Its value leads to the answers that it counts.
export function Figure({ name, value, interval, unit, n, change, href, chart, children }: Props) {
  const range = bounds(interval ?? null, unit)
  const alone = !useContext(Chapter)
  return (
    <figure class={chart?.on ? "figure on" : "figure"} aria-label={name}>
      <figcaption>
        {chart && alone ? (
          <button type="button" aria-pressed={chart.on} onClick={chart.onShow}>
            {name}
          </button>
        ) : (
          name
        )}
      </figcaption>
      <div class="value">{href ? <a href={href}>{value}</a> : value}</div>
      <div class="beside">
        {range && <span>95 % interval: {range}</span>}
        {n !== undefined && <span>n = {number(n)}</span>}
        {change && <Moved change={change} />}
      </div>
      {children}
    </figure>
  )
}

// Moved is how far a figure moved, with the range.
function Moved({ change: { verdict, difference, interval, since } }: { change: Change }) {
  const range = since ? since.interval : interval
  return (
    <span>
      <Chip change={{ verdict, difference: since?.difference ?? difference }} />{" "}
      {range && `${signed(range.low)} to ${signed(range.high)}`}
    </span>
  )
}

// Parts are the numbers that a figure is made of, folded.
export function Parts({ children }: { children: ComponentChildren }) {
  return (
    <details>
      <summary>How is this computed?</summary>
      <dl class="parts">{children}</dl>
    </details>
  )
}

// Part is a number of which a figure is made.
export function Part({ name, value, href }: { name: string; value: string; href?: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{href ? <a href={href}>{value}</a> : value}</dd>
    </div>
  )
}

// Bar shows a share of 100 beside its figure.
export function Bar({ value, text, own }: { value: number | null; text: string; own?: boolean }) {
  return (
    <span class={own ? "bar own" : "bar"}>
      <span class="track" aria-hidden="true">
        <span class="fill" style={{ width: `${Math.min(100, value ?? 0)}%` }} />
      </span>
      <span class="text">{text}</span>
    </span>
  )
}
