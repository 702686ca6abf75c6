import { Dots } from "./dots.tsx"
import type { FunnelProps } from "./marks.ts"
import { domainOf } from "./scale.ts"

// Funnel is a table of steps with a bar in each row. The steps need not count the same things.
export function Funnel({ steps, ...chart }: FunnelProps) {
  return (
    <Dots
      {...chart}
      bars
      head="Step"
      columns={[""]}
      domain={domainOf(
        steps.map((s) => s.value),
        chart.unit,
      )}
      rows={steps.map(({ key, name, value, text, href }) => ({
        key,
        name,
        slot: 0,
        now: { key, x: name, y: value, href },
        beside: [text],
      }))}
    />
  )
}
