import type { AnswerRow } from "../bodies.ts"
import { ordinal } from "../format.ts"

// Named says whether an answer names the brand, and at which place.
export function Named({ answer }: { answer: AnswerRow }) {
  if (!answer.shown) return <span class="tag">not shown</span>
  return answer.mentioned ? (
    <span class="tag own">named{answer.position !== null && ` ${ordinal(answer.position)}`}</span>
  ) : (
    <span class="tag">not named</span>
  )
}

// Tone is the sentiment of the sentences that name the brand.
export function Tone({ sentiment }: { sentiment: string }) {
  return sentiment === "unknown" ? null : <span class={sentiment === "negative" ? "tag warn" : "tag"}>{sentiment}</span>
}
