import { inColumn } from "../format.ts"
import type { ChipProps } from "./marks.ts"

const looks: Record<string, [sign: string, kind?: string]> = {
  moved_up: ["▲", "own"],
  moved_down: ["▼", "warn"],
  ahead: ["▲", "own"],
  behind: ["▼", "warn"],
  within_noise: ["≈"],
  level: ["≈"],
  recovered: ["≈"],
  degraded: ["!", "warn"],
  not_asked: ["!", "warn"],
}

// Chip is a verdict of the API in a word with its sign, and its difference, if it has judged one. Verdict (parts/verdict.tsx) has the sentence.
export function Chip({ change: { verdict, difference }, short }: ChipProps) {
  const [sign, kind = ""] = looks[verdict] ?? ["?"]
  return (
    <span class={`tag ${kind}`}>
      <span aria-hidden="true">{sign}</span> {wordOf(verdict)}
      {!short && verdict in looks && difference != null && ` ${signed(difference)}`}
    </span>
  )
}

// wordOf is a verdict as people read it: Moved down.
export const wordOf = (verdict: string) => verdict[0]!.toUpperCase() + verdict.slice(1).replaceAll("_", " ")

// signed is a difference with its sign: +2.1, −10.8; of rates and scores it has a decimal, as in a column.
export function signed(difference: number, write: (value: number) => string = points): string {
  return (difference > 0 ? "+" : "") + write(difference).replace("-", "−")
}

const points = (value: number) => inColumn(value, "")
