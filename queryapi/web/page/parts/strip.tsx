import type { Interval } from "../bodies.ts"
import { linear } from "../chart/scale.ts"

const x = linear([0, 100], [1, 63])

// Strip draws a rate on its interval, on an axis from 0 to 100. Without an interval the dot is hollow.
export function Strip({ rate, range, slot = 0 }: { rate: number | null; range?: Interval; slot?: number }) {
  const ends = range && "low" in range ? range : undefined
  return (
    <svg class={`slot-${slot}`} width="64" height="12" aria-hidden="true">
      <line class="axis" x1="1" x2="63" y1="6" y2="6" />
      {ends && <line class="range" x1={x(ends.low)} x2={x(ends.high)} y1="6" y2="6" />}
      {rate !== null && <circle class={ends ? "" : "thin"} cx={x(rate)} cy="6" r="2.5" />}
    </svg>
  )
}
