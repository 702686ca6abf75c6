import type { ComponentChild } from "preact"
import type { Mention } from "../bodies.ts"

// A Span is a mention in a text, in UTF-16 units, as JavaScript counts.
interface Span {
  from: number
  to: number
  mention: Mention
}

// spansOf returns the mentions to show, in the order of the text. Mentions count code points. Where they overlap, the
// brand's is shown, and of two competitors the first.
function spansOf(text: string, mentions: Mention[]): Span[] {
  const brands = mentions.filter((m) => m.role === "brand")
  const shown = mentions.filter((m) => m.role === "brand" || !brands.some((b) => b.start < m.end && m.start < b.end))
  shown.sort((a, b) => a.start - b.start)
  let [unit, point] = [0, 0]
  const unitAt = (wanted: number) => {
    for (; point < wanted && unit < text.length; point++) unit += text.codePointAt(unit)! > 0xffff ? 2 : 1
    return unit
  }
  const spans: Span[] = []
  let end = 0
  for (const m of shown) {
    if (m.start < end) continue
    spans.push({ from: unitAt(m.start), to: unitAt(m.end), mention: m })
    end = m.end
  }
  return spans
}

// A Marker returns parts of a text with their mentions marked: the brand's, and its competitors' underlined. Parts are
// asked for in the order of the text. A mention that two parts share has a mark in each.
export class Marker {
  private next = 0
  private spans: Span[]

  constructor(
    readonly text: string,
    mentions: Mention[],
  ) {
    this.spans = spansOf(text, mentions)
  }

  part(from: number, to: number): ComponentChild[] {
    const nodes: ComponentChild[] = []
    for (this.pass(from); from < to;) {
      const span = this.spans[this.next]
      if (!span || span.from >= to) {
        nodes.push(this.text.slice(from, to))
        break
      }
      if (span.from > from) nodes.push(this.text.slice(from, span.from))
      const [start, end] = [Math.max(from, span.from), Math.min(to, span.to)]
      const { name, role, start: key } = span.mention
      const words = this.text.slice(start, end)
      nodes.push(
        role === "brand" ? (
          <mark title={name} data-key={key}>
            {words}
          </mark>
        ) : (
          <u title={name} data-key={key}>
            {words}
          </u>
        ),
      )
      from = end
      this.pass(from)
    }
    return nodes
  }

  // mentioned says whether a part has some of a mention.
  mentioned(from: number, to: number): boolean {
    this.pass(from)
    const span = this.spans[this.next]
    return span !== undefined && span.from < to
  }

  private pass(from: number): void {
    while (this.next < this.spans.length && this.spans[this.next]!.to <= from) this.next++
  }
}

// Marked is the text of an answer as it was received.
export function Marked({ text, mentions }: { text: string; mentions: Mention[] }) {
  return <>{new Marker(text, mentions).part(0, text.length)}</>
}
