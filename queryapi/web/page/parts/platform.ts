import type { Slot } from "../chart/marks.ts"
import { meta } from "../session.ts"

const names = JSON.parse(meta("platforms") || "{}") as Record<string, string>

// platformName is a platform as people know it. Of those that a list has, one whose name another one has too keeps its slug.
export function platformName(slug: string, among: readonly string[] = []): string {
  const name = names[slug]
  return name && !among.some((other) => other !== slug && names[other] === name) ? name : slug
}

// groupName is the name of a group by a dimension; null is that of something deleted.
export function groupName(by: string, key: string, name: string | null | undefined): string {
  return by === "platform" && key ? platformName(key) : (name ?? (key ? "a deleted topic" : "not given"))
}

// vendors have slots of their own, with the slugs of visits before those of answers.
const vendors = [
  ["chatgpt", "openai"],
  ["perplexity"],
  ["gemini", "gemini-web"],
  ["claude", "anthropic"],
  ["copilot"],
  ["mistral"],
  ["grok", "xai"],
  ["meta-ai", "simulator"],
]

// slotOf is the place of a platform in the palette, the same on every screen; beyond eight vendors it is grey.
export function slotOf(platform: string): Slot {
  return (vendors.findIndex((slugs) => slugs.includes(platform)) + 1 || 9) as Slot
}

// bySlot sorts platforms in the order of the palette, then by name.
export const bySlot = (a: string, b: string) => slotOf(a) - slotOf(b) || a.localeCompare(b)
