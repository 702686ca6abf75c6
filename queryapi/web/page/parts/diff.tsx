import type { ComponentChild } from "preact"
import { useMemo } from "preact/hooks"

const mostWords = 4000 // of both texts; longer ones are compared by paragraph
const mostSteps = 1000 // of a comparison; texts that differ more are wholly different

// A Piece is in both texts, or in one of them.
interface Piece {
  text: string
  only?: "before" | "after"
}

// Diff has two texts side by side, and marks what only one of them has: sentences, and words in sentences that are
// alike.
export function Diff({ before, after }: { before: string; after: string }) {
  const pieces = useMemo(() => compare(before, after), [before, after])
  const side = (own: "before" | "after"): ComponentChild =>
    pieces
      .filter((p) => !p.only || p.only === own)
      .map((p) => (!p.only ? p.text : own === "before" ? <del>{p.text}</del> : <ins>{p.text}</ins>))
  return (
    <div class="diff">
      <div class="text">{side("before")}</div>
      <div class="text">{side("after")}</div>
    </div>
  )
}

function compare(before: string, after: string): Piece[] {
  const [a, b] = [before.match(words) ?? [], after.match(words) ?? []]
  if (a.length + b.length > mostWords) return hunks(before.match(paragraphs) ?? [], after.match(paragraphs) ?? [])
  return hunks(before.match(sentences) ?? [], after.match(sentences) ?? [], (a, b) =>
    hunks(a.match(words)!, b.match(words)!),
  )
}

// Each part has the space after it, so that all parts together are the text. A character of a script without spaces is
// a word.
const paragraphs = /[^\n]*\n|[^\n]+/g
const sentences = /[^.!?。！？\n]*[.!?。！？\n]+\s*|[^.!?。！？\n]+/g
const words = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}]\s*|[\p{L}\p{M}\p{N}]+\s*|[^]\s*/gu

// hunks joins what two lists have in common, and what only one of them has. Where both have something, finer compares
// it. Without one, as of words, lists of which less than half is common have nothing in common: it would read as noise.
function hunks(a: string[], b: string[], finer?: (a: string, b: string) => Piece[]): Piece[] {
  const pieces: Piece[] = []
  let [x, y] = [0, 0]
  const differ = (toX: number, toY: number) => {
    const [lost, won] = [a.slice(x, toX).join(""), b.slice(y, toY).join("")]
    if (lost && won && finer) pieces.push(...finer(lost, won))
    else
      pieces.push(
        ...(lost ? [{ text: lost, only: "before" as const }] : []),
        ...(won ? [{ text: won, only: "after" as const }] : []),
      )
  }
  for (const [fromX, fromY, n] of common(a, b, finer ? a.length + b.length : Math.ceil((a.length + b.length) / 2))) {
    differ(fromX, fromY)
    pieces.push({ text: a.slice(fromX, fromX + n).join("") })
    ;[x, y] = [fromX + n, fromY + n]
  }
  differ(a.length, b.length)
  return pieces
}

// common returns the runs [place in a, place in b, length] that two lists have in common (E. Myers, An O(ND) difference
// algorithm, 1986); none where they differ in more than most parts.
function common(a: string[], b: string[], most: number): [number, number, number][] {
  most = Math.min(most, mostSteps)
  const ends = new Int32Array(2 * most + 3) // in a of the farthest paths, by diagonal
  const at = (ends: Int32Array, k: number) => ends[k + most + 1]!
  const isDown = (ends: Int32Array, d: number, k: number) => k === -d || (k !== d && at(ends, k - 1) < at(ends, k + 1))
  // start returns where a path of d differences goes on along a diagonal, from paths of one less.
  const start = (ends: Int32Array, d: number, k: number) => (isDown(ends, d, k) ? at(ends, k + 1) : at(ends, k - 1) + 1)
  const trace: Int32Array[] = []
  for (let d = 0; d <= most; d++) {
    trace.push(ends.slice())
    for (let k = -d; k <= d; k += 2) {
      let x = start(ends, d, k)
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x++
      ends[k + most + 1] = x
      if (x >= a.length && x - k >= b.length) return back(d)
    }
  }
  return []

  // back follows the path from its end to its beginning.
  function back(d: number): [number, number, number][] {
    const runs: [number, number, number][] = []
    for (let [x, k] = [a.length, a.length - b.length]; d >= 0; d--) {
      const from = start(trace[d]!, d, k)
      if (x > from) runs.unshift([from, from - k, x - from])
      const down = isDown(trace[d]!, d, k)
      x = down ? from : from - 1
      k += down ? 1 : -1
    }
    return runs
  }
}
