import type { ComponentChildren } from "preact"
import { metrics, useAnswer } from "../api.ts"
import type { Change, VerdictChecks } from "../bodies.ts"
import { wordOf } from "../chart/chip.tsx"
import { date, number, ofAll, plural } from "../format.ts"
import { Shown } from "./state.tsx"

interface Props {
  change: Change & { dimension?: string }
  from: string // the window's first day
  rows?: number // of the list that it is in, where it has fewer words
  plan?: ComponentChildren // leads to what shows smaller changes
}

// Verdict is the API's: its chip, and sentences with the range and the reason.
export function Verdict({ change, from, rows, plan }: Props) {
  const { verdict, reason, reach, since, unadjusted, dimension } = change
  const subject = dimension === "competitor" ? dimension : "brand"
  const where = dimension === "platform" || dimension === "topic" ? " there, not only some prompts" : ""
  const kind = { moved_up: "tag own", moved_down: "tag warn" }[verdict] ?? "tag"
  return (
    <span>
      <span class={kind}>{wordOf(verdict)}</span> {finding(change)}
      {unadjusted && ` Alone it would count as a move; among ${number(rows)} rows it may be chance.`}
      {!unadjusted && dimension !== "prompt" && reach && (reach === "brand" ? ` The ${subject} moved${where}.` : ` These prompts moved; nothing shows that the ${subject} did.`)}
      {since && since.day < from && " That is before this window: the level changed in the days that it is compared with."}
      {!rows && leftOut(change)}
      {reason === "coarse" && plan}
    </span>
  )
}

const points = (value: number | null) => plural(Math.abs(value!), "point")

export function finding({ verdict, reason, difference, interval, detectable, since, prompts, days_before, days_after }: Change): string {
  if (since) {
    const ends = since.interval && [since.interval.low, since.interval.high].map(Math.abs).sort((a, b) => a - b)
    return `${since.difference > 0 ? "Up" : "Down"} ${points(since.difference)} since ${date(since.day)}${ends ? ` (${number(ends[0])} to ${points(ends[1]!)})` : ""}.`
  }
  switch (reason ?? verdict) {
    case "within_noise":
      return `The difference is ${plural(difference!, "point")} (${number(interval?.low)} to ${number(interval?.high)}); a change of ${points(detectable)} or more would have been seen in 4 of 5 cases.`
    case "no_runs":
      return "Too early to compare: the same prompts have no answers both before this window and in it. 7 days before and 3 in it would be enough."
    case "few_days":
      return `Comparable answers are on ${plural(days_before, "day")} before this window, and on ${plural(days_after, "day")} of it: 7 and 3 would be enough.`
    case "few_prompts":
      return `${plural(prompts, "prompt has", "prompts have")} answers in both windows: 5 would be enough.`
    case "coarse":
      return `A change of ${detectable ? `up to ${points(detectable)}` : "any size"} could be missed: more prompts or answers a day show smaller ones.`
  }
  const why = { outage: `${reason} gave up over a fifth of a day's runs`, model_changed: `${reason} answered with another model, through another provider or in another way than before`, basket_changed: `On ${reason} other prompts were asked than before` }[verdict]
  return `${why}: too little is left to compare.`
}

// leftOut is which runs the comparison leaves out.
export function leftOut({ reason, left_out: { outage, model_changed, basket_changed } }: Change): string {
  if (reason === "no_runs") return "" // of nothing
  const shares = Object.entries({ "an outage": outage, "a changed model, provider or platform": model_changed, "prompts that one of the windows lacks": basket_changed }).filter(([, share]) => share > 0)
  return shares.length > 0 ? ` Left out of the runs: ${shares.map(([why, share]) => `${ofAll(share)} for ${why}`).join(", ")}.` : ""
}

// Certainty says how often a verdict is wrong, and in a minute how it is reached (docs/verdicts.md).
export function Certainty({ perLook }: { perLook?: boolean }) {
  return (
    <div class="soft small certainty">
      <Shown of={useAnswer<VerdictChecks>(metrics("verdict-checks"))} height={20}>
        {(checks) => (
          <p>
            {measured(checks)}
            {perLook && " This window ends before yesterday: one look errs in at most 5 of 100 cases, several in more."}
          </p>
        )}
      </Shown>
      <details>
        <summary>How sure is this?</summary>
        <HowSure />
      </details>
    </div>
  )
}

// HowSure says in words what verdicts mean.
export function HowSure() {
  return (
    <>
      <p>
        Every day's answers to the same prompts are one measurement. “Moved” stands only where a change explains the days at
        least 20 times better than day-to-day noise. A new prompt, a missing day or a platform that is away moves nothing.
      </p>
      <p>
        <b>Moved</b>: since that day, by so many points. “These prompts”: read their answers before you tell anybody that the
        brand did. <b>Within noise</b>: nothing to act on; a smaller change may be there, unseen. <b>Too little data</b>: no
        verdict. <b>Outage, Model changed, Basket changed</b>: over half of the runs differ for that reason. Platforms that
        falter for days may look like a move.
      </p>
    </>
  )
}

const simulated = " Simulated brands got one in 0 to 8, mostly 1 to 6, of 100 quarters."

function measured({ false_alarms: { brand, prompts }, held }: VerdictChecks): string {
  if (!brand) return "How often it is wrong is measured every night, once there are 56 days of answers." + simulated
  const stood = held.filter((h) => h.moves > 0).map((h) => ` Of ${plural(h.moves, "move")} of ${h.reach === "brand" ? "a brand" : "prompts"}, ${number(h.held_moves)} stood two weeks later.`)
  return (
    `A brand that did not change gets a false move in ${number(brand.rate_pct)} of 100 quarters (${number(brand.low)}–${number(brand.high)}), measured nightly on this installation's answers, over ${number(brand.row_quarters)} quarters.` +
    (brand.row_quarters < 100 ? simulated : "") +
    (prompts ? ` Of “these prompts” it is ${number(prompts.rate_pct)} (${number(prompts.low)}–${number(prompts.high)}).` : "") +
    stood.join("")
  )
}
