import type { Brand } from "../bodies.ts"
import { screen } from "../parts/filters.tsx"

// groupFilter filters by the key of a group. An empty one has a filter only as a region.
export function groupFilter(parameter: string, key: string): Record<string, string> | undefined {
  return key ? { [parameter]: key } : parameter === "region" ? { region: "none" } : undefined
}

// answers is the address of the answers that a figure counts.
export function answers(brand: Brand, more: Record<string, string | undefined> = {}): string {
  return screen(brand, "answers", more)
}
