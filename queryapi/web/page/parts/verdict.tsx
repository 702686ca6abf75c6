import type { Summary } from "../bodies.ts"
import { daysOf, percent } from "../format.ts"
import { bounds } from "./figure.tsx"

// Verdict says whether the rate has changed against the window before: only where the intervals do not overlap.
export function Verdict({ now, before, short }: { now: Summary; before: Summary; short?: boolean }) {
  const [a, b] = [now.totals.mentionRateInterval, before.totals.mentionRateInterval]
  if (!a || !b || !("low" in a) || !("low" in b)) {
    return short ? <span class="soft">too little data</span> : <span>Too little data to compare with the window before.</span>
  }
  const word = a.low > b.high ? "Up" : a.high < b.low ? "Down" : "No clear change"
  const tag = <span class={word === "Up" ? "tag own" : word === "Down" ? "tag warn" : "tag"}>{word}</span>
  const from = percent(before.totals.mentionRatePct)
  if (short) {
    return (
      <>
        {tag} <span class="with-n soft small">from {from}</span>
      </>
    )
  }
  const days = daysOf(now.window.date_from, now.window.date_to)
  return (
    <span>
      {tag} The rate was {from} ({bounds(b, "%")}) in the {days} days before.{" "}
      {word === "No clear change" ? "The intervals overlap: the difference may be chance." : "The intervals do not overlap: the difference is not chance alone."}
    </span>
  )
}
