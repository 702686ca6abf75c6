import type { Slot } from "../chart/marks.ts"

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
