import { number } from "../format.ts"
import type { ChipProps } from "./marks.ts"

const looks: Record<string, [sign: string, kind: string]> = {
  moved_up: ["▲", "up"],
  moved_down: ["▼", "down"],
  ahead: ["▲", "up"],
  behind: ["▼", "down"],
  within_noise: ["≈", "flat"],
  level: ["≈", "flat"],
}

// Chip is a verdict of the API in a word with its sign, and its difference. Verdict (parts/verdict.tsx) has the sentence.
export function Chip({ change: { verdict, difference }, short }: ChipProps) {
  const [sign, kind] = looks[verdict] ?? ["?", "flat"]
  const word = verdict[0]!.toUpperCase() + verdict.slice(1).replaceAll("_", " ")
  return (
    <span class={`tag ${kind}`}>
      <span aria-hidden="true">{sign}</span> {word}
      {!short && difference != null && ` ${signed(difference)}`}
    </span>
  )
}

// signed is a difference with its sign: +2.1, −10.8.
export function signed(difference: number): string {
  return (difference > 0 ? "+" : "") + number(difference).replace("-", "−")
}
