import { store } from "../parts/table.tsx"

const space = "http://www.w3.org/2000/svg"
const styles = [
  "fill",
  "fill-opacity",
  "stroke",
  "stroke-width",
  "stroke-dasharray",
  "stroke-linejoin",
  "stop-color",
  "stop-opacity",
  "opacity",
  "font-family",
  "font-size",
  "font-weight",
  "text-anchor",
]

// save stores a chart as it is seen, with the colours of the theme and the ground of its card.
export function save(figure: HTMLElement, name: string, kind: "svg" | "png"): void {
  const text = new XMLSerializer().serializeToString(drawn(figure))
  const file = `${name.toLowerCase().replaceAll(" ", "-")}.${kind}`
  const blob = new Blob([text], { type: "image/svg+xml" })
  if (kind === "svg") return store(blob, file)
  const image = new Image()
  image.onload = () => {
    URL.revokeObjectURL(image.src)
    const canvas = document.createElement("canvas")
    canvas.width = image.width * 2
    canvas.height = image.height * 2
    canvas.getContext("2d")!.drawImage(image, 0, 0, canvas.width, canvas.height)
    canvas.toBlob((png) => png && store(png, file))
  }
  image.src = URL.createObjectURL(blob)
}

const head = 44 // pixels for the heading

// drawn is an SVG of a figure and its legend under its heading: its own SVGs, and of HTML the grounds and the words.
function drawn(figure: HTMLElement): SVGSVGElement {
  const inside = figure.parentElement!
  const box = inside.getBoundingClientRect()
  const [width, height] = [Math.ceil(box.width), Math.ceil(box.height) + head]
  const origin = { x: box.x, y: box.y - head }
  const root = element("svg", { width, height, viewBox: `0 0 ${width} ${height}` }) as SVGSVGElement
  const card = figure.closest(".card")!
  root.append(
    element("rect", { width: "100%", height: "100%", fill: getComputedStyle(card).backgroundColor }),
    write(card.querySelector("h2")!.textContent, { x: 16, y: 28 }, getComputedStyle(card.querySelector("h2")!)),
  )
  const add = (node: Element) => {
    const style = getComputedStyle(node)
    const { x, y, width, height } = node.getBoundingClientRect()
    const place = { x: x - origin.x, y: y - origin.y, width, height }
    if (style.display === "none" || node.matches(".hidden, .tip, button:not([aria-pressed=true])")) return
    if (node instanceof SVGSVGElement) return root.append(copy(node, place))
    if (style.backgroundColor !== "rgba(0, 0, 0, 0)")
      root.append(
        element("rect", {
          ...place,
          fill: style.backgroundColor,
          rx: Math.min(parseFloat(style.borderRadius) || 0, height / 2),
        }),
      )
    const [, stripe] = style.backgroundImage.match(/^repeating.*(rgb.*?\))/) ?? []
    if (stripe) {
      const id = `hatch-${root.childElementCount}`
      const pattern = element("pattern", { id, width: 6, height: 6, patternUnits: "userSpaceOnUse" })
      pattern.append(element("path", { d: "M0,6L6,0", stroke: stripe, "stroke-width": 2 }))
      root.append(pattern, element("rect", { ...place, fill: `url(#${id})` }))
    }
    const [, stroke, thick] = style.boxShadow.match(/(.*\)) 0px 0px 0px (\d)px inset/) ?? []
    if (stroke) root.append(element("rect", { ...place, fill: "none", stroke, "stroke-width": thick! }))
    for (const child of node.childNodes) {
      if (child instanceof Element) add(child)
      else root.append(...words(child as Text, style, origin))
    }
  }
  add(inside)
  return root
}

function copy(svg: SVGSVGElement, place: Record<string, number>): SVGSVGElement {
  const clone = svg.cloneNode(true) as SVGSVGElement
  const [from, to] = [svg.querySelectorAll("*"), clone.querySelectorAll("*")]
  from.forEach((node, i) => {
    const seen = getComputedStyle(node)
    for (const property of styles) to[i]!.setAttribute(property, seen.getPropertyValue(property))
  })
  for (const [name, value] of Object.entries({ ...place, overflow: "visible" })) clone.setAttribute(name, String(value))
  return clone
}

// words places each word where the browser has it, since lines break.
function words(text: Text, style: CSSStyleDeclaration, origin: { x: number; y: number }): SVGElement[] {
  return [...text.data.matchAll(/\S+/g)].map(({ 0: word, index }) => {
    const range = document.createRange()
    range.setStart(text, index)
    range.setEnd(text, index + word.length)
    const { x, y, height } = range.getBoundingClientRect()
    return write(word, { x: x - origin.x, y: y - origin.y + height * 0.78 }, style)
  })
}

function write(text: string, place: { x: number; y: number }, style: CSSStyleDeclaration): SVGElement {
  const { color: fill, fontFamily, fontSize, fontWeight } = style
  const font = { "font-family": fontFamily, "font-size": fontSize, "font-weight": fontWeight }
  const node = element("text", { ...place, fill, ...font })
  node.textContent = text
  return node
}

function element(name: string, attributes: Record<string, string | number>): SVGElement {
  const node = document.createElementNS(space, name)
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, String(value))
  return node
}
