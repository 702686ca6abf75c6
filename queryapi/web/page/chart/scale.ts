import { daysOf, shift } from "../format.ts"
import type { Mark } from "./marks.ts"

export type Pair = [number, number]
export type Scale = (value: number) => number

// linear maps a domain to pixels. A domain of one value maps to the middle.
export function linear([from, to]: Pair, [start, end]: Pair): Scale {
  if (from === to) return () => (start + end) / 2
  return (value) => start + ((value - from) / (to - from)) * (end - start)
}

// barWidth is the width of a bar in a column of so many pixels, with a gap of 2 beside it, or less where it is narrow.
export function barWidth(column: number): number {
  return Math.max(1, Math.min(48, column - Math.min(2, column / 4)))
}

// domainOf reaches from 0, or the least value below it, to a round number above all values; shares end at 100.
export function domainOf(values: number[], unit: string): Pair {
  let [low, high] = [Math.min(0, ...values), Math.max(0, ...values) || 1]
  for (let step = 0, next; (next = roundStep(low, high, 4)) !== step; step = next) {
    low = exact(Math.floor(exact(low / next)) * next)
    high = exact(Math.ceil(exact(high / next)) * next)
  }
  return [low, unit === "%" ? Math.min(100, high) : high]
}

// ticksOf are about so many round values of a domain.
export function ticksOf([low, high]: Pair, count = 4): number[] {
  const step = roundStep(low, high, count)
  const [first, last] = [Math.ceil(exact(low / step)), Math.floor(exact(high / step))]
  return Array.from({ length: last - first + 1 }, (_, i) => exact((first + i) * step))
}

// roundStep is 1, 2 or 5 times a power of ten, of which about count lie between two values.
function roundStep(low: number, high: number, count: number): number {
  const step = (high - low) / count
  const power = 10 ** Math.floor(Math.log10(step))
  const times = step / power
  return power * (times < Math.SQRT2 ? 1 : times < Math.sqrt(10) ? 2 : times < Math.sqrt(50) ? 5 : 10)
}

// exact is a number without the error of its last bits: 0.1 × 3 is 0.3.
const exact = (value: number) => Number(value.toPrecision(12))

// dayNumber counts UTC days from 1970 on.
export const dayNumber = (day: string | number) => Date.parse(String(day)) / 86_400_000

const steps = [1, 2, 7, 14, 28, 56, 91, 182, 364]

export const monday = (day: string) => shift(day, -((dayNumber(day) + 3) % 7))

// lagOf is how many days a window is later than another one, of weeks by their Mondays.
export const lagOf = (from: string, before: string, weekly?: boolean): number =>
  weekly ? lagOf(monday(from), monday(before)) : dayNumber(from) - dayNumber(before)

// dayTicks are the days that an axis names: all, every other one, or Mondays.
export function dayTicks(columns: string[], most: number, least: number): string[] {
  const [first, last] = [columns[0] ?? "", columns.at(-1) ?? ""]
  const days = daysOf(first, last)
  const step = steps.find((one) => one >= least && Math.ceil(days / one) <= most) ?? 728
  const start = step < 7 ? 0 : (11 - ((dayNumber(first) + 7) % 7)) % 7 // 1970 began on a Thursday
  return Array.from({ length: Math.max(0, Math.ceil((days - start) / step)) }, (_, i) => shift(first, start + i * step))
}

// runsOf divides marks at gaps: where there is no value, or no bucket for longer than the step.
export function runsOf(marks: Mark[], step: number): Mark[][] {
  const runs: Mark[][] = []
  let last: Mark | undefined
  for (const mark of marks) {
    if (mark.y !== null) {
      if (last && dayNumber(mark.x) - dayNumber(last.x) <= step * 1.5) runs.at(-1)!.push(mark)
      else runs.push([mark])
    }
    last = mark.y === null ? undefined : mark
  }
  return runs
}

const round = (value: number) => Math.round(value * 10) / 10

export function linePath(points: Pair[]): string {
  return points.length > 1 ? "M" + points.map(([x, y]) => `${round(x)},${round(y)}`).join("L") : ""
}

export function areaPath(top: Pair[], bottom: Pair[]): string {
  return top.length > 1 ? linePath([...top, ...bottom.toReversed()]) + "Z" : ""
}
