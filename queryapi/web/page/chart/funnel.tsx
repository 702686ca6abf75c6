import { useRef } from "preact/hooks"
import { plural } from "../format.ts"
import { Across } from "./axis.tsx"
import { Chart, Spot, useWidth } from "./chart.tsx"
import { type Cursor, useMarks } from "./cursor.ts"
import { edge } from "./dots.tsx"
import type { FunnelProps } from "./marks.ts"
import { domainOf, linear } from "./scale.ts"

const height = 40

// Funnel is a table of steps with a bar in each row. The steps need not count the same things.
export function Funnel(chart: FunnelProps) {
  const { steps, unit } = chart
  const marks = useMarks(
    steps.map(({ key, name, value, href }) => [{ key, x: name, y: value, href }]),
    { unit, table: true },
  )
  return (
    <Chart {...chart} kind="rows" marks={marks} has={steps.length > 0} summary={plural(steps.length, "step")}>
      {() => <Rows {...chart} marks={marks} />}
    </Chart>
  )
}

function Rows({ name, unit, steps, marks }: FunnelProps & { marks: Cursor }) {
  const axis = useRef<HTMLTableCellElement>(null)
  const width = useWidth(axis)
  const domain = domainOf(
    steps.map((s) => s.value),
    unit,
  )
  const x = linear(domain, [edge, width - edge])
  return (
    <div class="scroll">
      <table aria-label={name}>
        <thead>
          <tr>
            <th scope="col">Step</th>
            <td class="picture" ref={axis}>
              <Across x={x} domain={domain} unit={unit} width={width} />
            </td>
            <td />
          </tr>
        </thead>
        <tbody>
          {steps.map((step, i) => (
            <tr key={step.key}>
              <th scope="row">{step.href ? <a href={step.href}>{step.name}</a> : step.name}</th>
              <td class="picture">
                <svg width={width} height={height} class="slot-0">
                  <Across x={x} domain={domain} unit={unit} width={width} height={height} />
                  <Spot {...marks.spot(i, 0, step.name)}>
                    <rect class="area" x={x(0)} y="10" width={Math.max(0, x(step.value) - x(0))} height={height - 20} />
                  </Spot>
                </svg>
              </td>
              <td>{step.text}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
