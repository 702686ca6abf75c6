import { type ScaleLinear, scaleLinear } from "d3-scale"
import { area, line } from "d3-shape"
import type { ComponentChildren } from "preact"
import { useEffect, useRef, useState } from "preact/hooks"
import type { Interval } from "../bodies.ts"
import { date, daysOf, number, plural, shift } from "../format.ts"
import { bounds } from "./figure.tsx"
import { Download, store } from "./table.tsx"

export interface Point {
  date: string
  value: number | null
  interval: Interval
  n: number
  moved?: "up" | "down" // from here on, as the API's verdict has it
  changed: boolean // a platform answered with another model than before
  givenUp: number // runs
  degraded: string[] // platforms that gave up over a fifth of theirs
  href?: string // the answers that it counts
}

interface Props {
  name: string
  unit: string
  points: Point[]
  weekly?: boolean
  tools?: ComponentChildren
  csv?: { url: string; file: string }
}

const height = 240
const margin = { top: 14, right: 20, bottom: 26, left: 40 }
const sparse = 45 // points, up to which each is drawn

// Trend is a curve with its band of uncertainty. Its points are links: one tab stop, arrows go from point to point. The
// table behind it has the same figures.
export function Trend({ name, unit, points, weekly, tools, csv }: Props) {
  const [folded, fold] = useState(true)
  const svg = useRef<SVGSVGElement>(null)
  const known = points.filter((p) => p.value !== null)
  return (
    <section class="card">
      <header>
        <div>
          <h2>{name}</h2>
          <p>Share of answers that name the brand, by {weekly ? "week" : "day"}</p>
        </div>
        <div class="line">
          {tools}
          <button type="button" class="button plain tight" aria-expanded={!folded} onClick={() => fold(!folded)}>
            {folded ? "Show table" : "Hide table"}
          </button>
          {csv && <Download url={csv.url} file={csv.file} name={name} />}
          {known.length > 1 && (
            <button type="button" class="button plain tight" aria-label={`Download SVG: ${name}`} onClick={() => svg.current && save(svg.current, name)}>
              SVG
            </button>
          )}
        </div>
      </header>
      <div class="inside">
        {known.length > 1 ? (
          <Chart name={name} unit={unit} points={known} svg={svg} />
        ) : (
          <p class="soft">Too little data for a trend: it begins with answers on two {weekly ? "weeks" : "days"}.</p>
        )}
      </div>
      <Behind name={name} unit={unit} points={points} folded={folded} weekly={weekly} />
    </section>
  )
}

function Chart({ name, unit, points, svg }: Props & { svg: { current: SVGSVGElement | null } }) {
  const box = useRef<HTMLElement>(null)
  const width = useWidth(box)
  const [at, setAt] = useState(points.length - 1) // the tab stop
  const [shown, show] = useState<number | null>(null)
  const scales = scalesOf(points, width)
  const stop = Math.min(at, points.length - 1)

  const onKeyDown = (event: KeyboardEvent) => {
    const to = { ArrowLeft: stop - 1, ArrowRight: stop + 1, Home: 0, End: points.length - 1 }[event.key]
    if (to === undefined || to < 0 || to >= points.length) return
    event.preventDefault()
    setAt(to)
    box.current?.querySelectorAll<SVGAElement>("a")[to]?.focus()
  }

  return (
    <figure class={points.length <= sparse ? "trend sparse" : "trend"} aria-label={name} ref={box} onMouseLeave={() => show(null)}>
      {width > 0 && (
        <svg ref={svg} width={width} height={height} viewBox={`0 0 ${width} ${height}`} onKeyDown={onKeyDown}>
          <Axes points={points} unit={unit} {...scales} />
          <Curve points={points} {...scales} />
          {points.map((p, i) => (
            <a
              key={p.date}
              href={p.href}
              role="link"
              {...{ tabindex: i === stop ? 0 : -1 } /* of SVG, the attribute */}
              aria-label={`${describe(p, unit)}`}
              onFocus={() => (setAt(i), show(i))}
              onBlur={() => show(null)}
              onMouseEnter={() => show(i)}
            >
              <Spot point={p} {...scales} />
            </a>
          ))}
        </svg>
      )}
      {shown !== null && points[shown] && <Tip point={points[shown]} unit={unit} left={scales.x(day(points[shown]))} width={width} />}
      <Legend points={points} />
    </figure>
  )
}

interface Scales {
  x: ScaleLinear<number, number> // of days
  y: ScaleLinear<number, number>
  width: number
  step: number // from point to point
}

function scalesOf(points: Point[], width: number): Scales {
  const top = Math.max(...points.map((p) => (p.interval && "high" in p.interval ? p.interval.high : p.value!)))
  return {
    x: scaleLinear([day(points[0]!), day(points.at(-1)!)], [margin.left, width - margin.right]),
    y: scaleLinear([0, Math.min(100, Math.max(top * 1.08, 5))], [height - margin.bottom, margin.top]).nice(4),
    width,
    step: (width - margin.left - margin.right) / Math.max(1, points.length - 1),
  }
}

// Axes name whole days.
function Axes({ points, unit, x, y, width }: { points: Point[]; unit: string } & Scales) {
  const first = points[0]!.date
  const days = daysOf(first, points.at(-1)!.date)
  const step = Math.ceil(days / Math.max(4, Math.floor(width / 100)))
  return (
    <>
      {y.ticks(4).map((value) => (
        <g key={value} transform={`translate(0 ${y(value)})`}>
          <line class={value === 0 ? "grid zero" : "grid"} x1={margin.left} x2={width - margin.right} />
          <text x={margin.left - 8} dy="0.32em" text-anchor="end">
            {value + unit}
          </text>
        </g>
      ))}
      {Array.from({ length: Math.ceil(days / step) }, (_, i) => shift(first, i * step)).map((at) => (
        <text key={at} class="day" x={x(Date.parse(at))} y={height - 6} text-anchor="middle">
          {date(at).split(",")[0]}
        </text>
      ))}
    </>
  )
}

// Curve has the line, its band, and the marks of what to know before a drop is read as one.
function Curve({ points, x, y, step }: { points: Point[] } & Scales) {
  return (
    <>
      {points.map((p) => p.degraded.length > 0 && <rect key={p.date} class="outage" x={x(day(p)) - Math.max(step, 4) / 2} y={height - margin.bottom - 5} width={Math.max(step, 4)} height="5" />)}
      {points.map((p) => p.changed && <line key={p.date} class="change" x1={x(day(p))} x2={x(day(p))} y1={margin.top} y2={height - margin.bottom} />)}
      {points.map((p) => p.moved && <line key={p.date} class="moved" x1={x(day(p))} x2={x(day(p))} y1={margin.top} y2={height - margin.bottom} />)}
      <path class="band" d={band(points, x, y)} />
      <path class="curve" d={line<Point>((p) => x(day(p)), (p) => y(p.value!))(points) ?? ""} />
    </>
  )
}

function Spot({ point, x, y, step }: { point: Point } & Scales) {
  const at = x(day(point))
  return (
    <>
      <rect class="column" x={at - step / 2} y={margin.top} width={step} height={height - margin.top - margin.bottom} />
      <line class="rule" x1={at} x2={at} y1={margin.top} y2={height - margin.bottom} />
      <circle class="dot" cx={at} cy={y(point.value!)} r={step > 14 ? 4 : 3} />
    </>
  )
}

function Legend({ points }: { points: Point[] }) {
  return (
    <figcaption class="legend">
      <span>
        <i /> Visibility rate
      </span>
      <span>
        <i class="wide" /> 95 % interval
      </span>
      {points.some((p) => p.moved) && (
        <span>
          <i class="moved" /> the score moved
        </span>
      )}
      {points.some((p) => p.changed) && (
        <span>
          <i class="dashed" /> a platform's model changed
        </span>
      )}
      {points.some((p) => p.degraded.length > 0) && (
        <span>
          <i class="outage" /> a platform gave up over a fifth of its runs
        </span>
      )}
    </figcaption>
  )
}

function Tip({ point, unit, left, width }: { point: Point; unit: string; left: number; width: number }) {
  const side = left > width / 2 ? { right: `${width - left + 12}px` } : { left: `${left + 12}px` }
  return (
    <div class="tip" style={side} aria-hidden="true">
      <div class="soft small">{date(point.date)}</div>
      <strong>
        {number(point.value)}
        {unit}
      </strong>{" "}
      <span class="soft">{bounds(point.interval, unit)}</span>
      <div class="soft small">{plural(point.n, "answer")}</div>
      {notes(point).map((note) => (
        <div key={note} class="small">
          {note}
        </div>
      ))}
    </div>
  )
}

// Behind is the table with the chart's figures; folded, it is there for screen readers.
function Behind({ name, unit, points, folded, weekly }: Props & { folded: boolean }) {
  return (
    <div class={folded ? "hidden" : "scroll"} tabIndex={folded ? undefined : 0}>
      <table aria-label={name}>
        <thead>
          <tr>
            <th scope="col">{weekly ? "Week of" : "Day"}</th>
            <th scope="col" class="number">
              Rate
            </th>
            <th scope="col" class="number">
              Interval
            </th>
            <th scope="col" class="number">
              n
            </th>
            <th scope="col" class="number">
              Given up
            </th>
            <th scope="col">Notes</th>
          </tr>
        </thead>
        <tbody>
          {points.map((p) => (
            <tr key={p.date}>
              <th scope="row">{folded || !p.href ? p.date : <a href={p.href}>{p.date}</a>}</th>
              <td class="number">{p.value === null ? "–" : number(p.value) + unit}</td>
              <td class="number">{bounds(p.interval)}</td>
              <td class="number">{number(p.n)}</td>
              <td class="number">{number(p.givenUp)}</td>
              <td>{notes(p, false).join(", ")}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function describe(p: Point, unit: string): string {
  const range = bounds(p.interval)
  return [`${date(p.date)}: ${number(p.value)}${unit}${range ? ` (${range})` : ""}, n = ${number(p.n)}`, ...notes(p)].join(", ")
}

// notes are what to know of a bucket before its value is read as the brand's.
function notes(p: Point, counted = true): string[] {
  const all = [...(p.moved ? [`the score moved ${p.moved}`] : []), ...(p.changed ? ["model changed"] : []), ...p.degraded.map((platform) => `outage of ${platform}`)]
  return counted && p.givenUp > 0 ? [...all, `${plural(p.givenUp, "run")} given up`] : all
}

function day(p: Point): number {
  return Date.parse(p.date)
}

function band(points: Point[], x: Scales["x"], y: Scales["y"]): string {
  const bounded = (p: Point) => p.interval !== null && "low" in p.interval
  return (
    area<Point>(
      (p) => x(day(p)),
      (p) => y(p.interval && "low" in p.interval ? p.interval.low : 0),
      (p) => y(p.interval && "high" in p.interval ? p.interval.high : 0),
    ).defined(bounded)(points) ?? ""
  )
}

function useWidth(box: { current: HTMLElement | null }): number {
  const [width, set] = useState(0)
  useEffect(() => {
    if (!box.current) return
    set(box.current.clientWidth)
    const watch = new ResizeObserver(([entry]) => entry && set(Math.round(entry.contentRect.width)))
    watch.observe(box.current)
    return () => watch.disconnect()
  }, [])
  return width
}

const styles = ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font-family", "font-size", "font-weight"]

// save stores a chart as it is seen, with the colours of the theme and the ground of its card.
function save(svg: SVGSVGElement, name: string): void {
  const copy = svg.cloneNode(true) as SVGSVGElement
  const [from, to] = [svg.querySelectorAll("*"), copy.querySelectorAll("*")]
  from.forEach((element, i) => {
    const seen = getComputedStyle(element)
    for (const property of styles) to[i]!.setAttribute(property, seen.getPropertyValue(property))
  })
  const ground = document.createElementNS("http://www.w3.org/2000/svg", "rect")
  for (const [name, value] of Object.entries({ width: "100%", height: "100%", fill: getComputedStyle(svg.closest(".card")!).backgroundColor })) ground.setAttribute(name, value)
  copy.prepend(ground)
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg")
  store(new Blob([new XMLSerializer().serializeToString(copy)], { type: "image/svg+xml" }), name.toLowerCase().replaceAll(" ", "-") + ".svg")
}

// Spark is a curve without axes, of values from 0 up.
export function Spark({ values }: { values: (number | null)[] }) {
  const known = values.map((value, i) => ({ value, i })).filter((p) => p.value !== null)
  if (known.length < 2) return <span class="soft small">too little data</span>
  const y = scaleLinear([0, Math.max(...known.map((p) => p.value!), 1)], [26, 3])
  const x = scaleLinear([0, values.length - 1], [1, 119])
  return (
    <svg class="spark" width="120" height="28" aria-hidden="true">
      <path d={line<(typeof known)[0]>((p) => x(p.i), (p) => y(p.value!))(known) ?? ""} />
    </svg>
  )
}
