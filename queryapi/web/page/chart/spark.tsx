import type { SparkProps } from "./marks.ts"
import { areaPath, linear, linePath, type Pair } from "./scale.ts"

const [width, height] = [96, 28]

// Spark is a line without axes, with its band; its row says the figures.
export function Spark({ values, ranges = [], domain, label }: SparkProps) {
  const x = linear([0, Math.max(1, values.length - 1)], [2, width - 3])
  const y = linear(domain, [height - 2, 2])
  const points = values.flatMap((value, i): Pair[] => (value === null ? [] : [[i, value]]))
  if (points.length === 0) return <span class="soft small">no data</span>
  const runs: Pair[][] = []
  for (const [i, value] of points) {
    if (i > 0 && values[i - 1] !== null) runs.at(-1)!.push([i, value])
    else runs.push([[i, value]])
  }
  const drawn = (run: Pair[]) => run.map(([i, value]): Pair => [x(i), y(value)])
  const bounds = (run: Pair[]) =>
    run.flatMap(([i]) => {
      const range = ranges[i]
      return range && "low" in range ? [{ i, ...range }] : []
    })
  const [i, value] = points.at(-1)!
  return (
    <svg class="spark slot-0" width={width} height={height} role="img" aria-label={label}>
      <path
        class="band"
        d={runs
          .map(bounds)
          .map((b) =>
            areaPath(
              b.map((r) => [x(r.i), y(r.high)]),
              b.map((r) => [x(r.i), y(r.low)]),
            ),
          )
          .join("")}
      />
      <path class="line" d={runs.map((run) => linePath(drawn(run))).join("")} />
      <circle cx={x(i)} cy={y(value)} r="2.5" />
    </svg>
  )
}
