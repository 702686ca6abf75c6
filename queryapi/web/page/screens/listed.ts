// The parameters of the list of answers, which an answer opened from it keeps.
import { query } from "../route.ts"

// parts are the parameters that take away some of the answers that a figure counts.
export const parts = ["cited", "sentiment", "prompt_id", "competitor_id", "domain", "url", "page", "category", "name", "search"]

// listed are all parameters of the list.
export function listed(): Record<string, string | undefined> {
  return Object.fromEntries(["mentioned", "shown", "cursor", ...parts].map((name) => [name, query.value.get(name) ?? undefined]))
}
