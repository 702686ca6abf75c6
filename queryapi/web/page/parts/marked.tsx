import type { Mention } from "../bodies.ts"

// Marked is the text of an answer, with the brand's mentions marked and its competitors' underlined. Offsets count code
// points. Where mentions overlap, the brand's is shown.
export function Marked({ text, mentions }: { text: string; mentions: Mention[] }) {
  const points = Array.from(text)
  const brands = mentions.filter((m) => m.role === "brand")
  const shown = mentions.filter((m) => m.role === "brand" || !brands.some((b) => b.start < m.end && m.start < b.end))
  shown.sort((a, b) => a.start - b.start)
  const parts = []
  let at = 0
  for (const m of shown) {
    if (m.start < at) continue // of two competitors that overlap, the first
    const name = points.slice(m.start, m.end).join("")
    parts.push(points.slice(at, m.start).join(""), m.role === "brand" ? <mark title={m.name}>{name}</mark> : <u title={m.name}>{name}</u>)
    at = m.end
  }
  parts.push(points.slice(at).join(""))
  return <>{parts}</>
}
