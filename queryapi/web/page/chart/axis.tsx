import { compact, shortDate } from "../format.ts"
import { dayNumber, dayTicks, type Pair, type Scale, ticksOf } from "./scale.ts"

export interface Margin {
  top: number
  right: number
  bottom: number
  left: number
}

interface ValuesProps {
  y: Scale
  domain: Pair
  unit: string
  left: number
  right: number
  count?: number
}

// Values names round values, the unit at the topmost one, and draws a line across at each.
export function Values({ y, domain, unit, left, right, count }: ValuesProps) {
  const ticks = ticksOf(domain, count)
  return (
    <g class="axis values" aria-hidden="true">
      {ticks.map((value, i) => (
        <g key={value} data-tick={value} transform={`translate(0 ${y(value)})`}>
          <line class={value === 0 ? "grid zero" : "grid"} x1={left} x2={right} />
          <text x={left - 8} dy="0.32em" text-anchor="end">
            {compact(value)}
            {i === ticks.length - 1 && (unit === "%" ? unit : unit && " " + unit)}
          </text>
        </g>
      ))}
    </g>
  )
}

interface DaysProps {
  x: Scale
  columns: string[]
  step: number // days from column to column
  left: number
  right: number
  bottom: number
  zone?: string
}

// Days names at most seven days, and the zone where there is room.
export function Days({ x, columns, step, left, right, bottom, zone }: DaysProps) {
  const most = Math.max(2, Math.min(7, Math.floor((right - left) / 60)))
  const ticks = dayTicks(columns, most, step)
  return (
    <g class="axis days" aria-hidden="true">
      {ticks.map((day) => (
        <text key={day} class="day" x={x(dayNumber(day))} y={bottom + 18} text-anchor="middle">
          {shortDate(day)}
        </text>
      ))}
      {zone && right - x(dayNumber(ticks.at(-1) ?? 0)) > 60 && (
        <text x={right} y={bottom + 18} text-anchor="end">
          {zone}
        </text>
      )}
    </g>
  )
}

interface AcrossProps {
  x: Scale
  domain: Pair
  unit: string
  width: number
  height?: number // of a row; without, it is the head with the values
}

// Across is an axis of values from left to right: its head, and in each row the lines.
export function Across({ x, domain, unit, width, height }: AcrossProps) {
  const ticks = ticksOf(domain, width < 100 ? 1 : width < 240 ? 2 : 4)
  const lines = ticks.map((value) => (
    <g key={value} data-tick={height ? undefined : value} transform={`translate(${x(value)} 0)`}>
      <line class={value === 0 ? "grid zero" : "grid"} y1={height ? 0 : 16} y2={height ?? 20} />
      {!height && (
        <text y="12" text-anchor="middle">
          {compact(value)}
          {value === ticks.at(-1) && (unit === "%" ? unit : width > 240 && unit && " " + unit)}
        </text>
      )}
    </g>
  ))
  if (height) return <>{lines}</>
  return (
    <svg width={width} height="20" aria-hidden="true">
      {lines}
    </svg>
  )
}

// Hatch is a pattern of slanted lines in the colour of a slot.
export function Hatch({ id, slot }: { id: string; slot: number }) {
  return (
    <pattern
      id={id}
      class={`slot-${slot}`}
      width="6"
      height="6"
      patternUnits="userSpaceOnUse"
      patternTransform="rotate(45)"
    >
      <path class="stripe" d="M0,0L0,6" />
    </pattern>
  )
}
