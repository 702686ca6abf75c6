import { useState } from "preact/hooks"
import { metrics, useAnswer } from "../api.ts"
import type { Brand, Plan } from "../bodies.ts"
import { number, plural } from "../format.ts"
import { Card } from "../parts/card.tsx"
import { Choice } from "../parts/form.tsx"
import { Shown } from "../parts/state.tsx"

// SamplingPlan shows how many answers a day would show a change, and what they would cost.
export function SamplingPlan({ brand }: { brand: Brand }) {
  const [difference, setDifference] = useState("5")
  const [days, setDays] = useState("14")
  const plan = useAnswer<Plan>(metrics("sampling-plan", { brand_id: brand.id, difference, days }))
  return (
    <Card name="How many answers are enough?" title="To see a change of the visibility score in 4 of 5 cases, from the noise of the last 28 days">
      <div class="inside stack">
        <p>
          To see a change of <Choice name="Points" value={difference} among={["2", "5", "10", "20"]} busy={false} onInput={setDifference} /> points within{" "}
          <Choice name="Days" value={days} among={["7", "14", "28"]} busy={false} onInput={setDays} /> days:
        </p>
        <Shown of={plan} height={40}>
          {(p) => (
            <>
              <p>
                <strong>{answers(p)}</strong>
              </p>
              {p.clusters !== null && p.needed_clusters !== null && <p class="soft">{topics(p)}</p>}
            </>
          )}
        </Shown>
      </div>
    </Card>
  )
}

function answers(p: Plan): string {
  const change = `a change of ${plural(p.difference, "point")} within ${plural(p.days, "day")}`
  switch (p.reason) {
    case "too_little_data":
      return "There are too few answers to tell: it takes about three weeks of answers that can be compared."
    case "noise_of_days":
      return `No number of answers shows ${change}: from day to day all answers together differ by ${plural(p.day_deviation ?? 0, "point")}. A larger change, or more days, can be seen.`
  }
  if (p.more_answers_per_day === 0) return `Today's ${plural(p.answers_per_day, "answer")} a day would show ${change} in 4 of 5 cases.`
  const cost = p.more_cost_per_month_usd === null ? "" : `, about ${number(p.more_cost_per_month_usd)} USD a month,`
  return `${plural(p.more_answers_per_day ?? 0, "more answer")} a day${cost} would show ${change}. Today it is ${number(p.answers_per_day)} a day.`
}

function topics(p: Plan): string {
  const [clusters, needed] = [p.clusters ?? 0, p.needed_clusters ?? 0]
  return clusters >= needed
    ? `${plural(clusters, "topic is", "topics are")} enough (prompts without one count alone) to tell whether the brand moved, or only some prompts.`
    : `To tell whether the brand moved, or only some prompts, it takes ${plural(needed, "topic")} (prompts without one count alone), and it has ${number(clusters)}.`
}
