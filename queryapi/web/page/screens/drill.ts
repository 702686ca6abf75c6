import type { Brand, Compared, Comparison } from "../bodies.ts"
import { type Mark, type Slot, tooFew } from "../chart/marks.ts"
import { screen } from "../parts/filters.tsx"

// groupFilter filters by the key of a group. An empty one has a filter only as a region.
export function groupFilter(parameter: string, key: string): Record<string, string> | undefined {
  return key ? { [parameter]: key } : parameter === "region" ? { region: "none" } : undefined
}

// answers is the address of the answers that a figure counts.
export function answers(brand: Brand, more: Record<string, string | undefined> = {}): string | undefined {
  return screen(brand, "answers", more)
}

// ranked are the brand and its competitors by mention rate.
export function ranked({ brand, competitors }: Pick<Comparison, "brand" | "competitors">): Compared[] {
  return [brand, ...competitors].sort((a, b) => a.rank! - b.rank!)
}

// naming is the address of the answers that name an entity.
export function naming(brand: Brand, { competitor_id }: Compared, more: Record<string, string> = {}): string | undefined {
  return answers(brand, { ...more, ...(competitor_id ? { competitor_id } : { mentioned: "true" }) })
}

export const keyOf = (brand: Brand, { competitor_id }: Compared) => competitor_id ?? brand.id
export const rowSlot = ({ competitor_id, slot }: Compared) => (competitor_id ? (slot ?? 9) : 0) as Slot

// rateMark is how a chart draws the rate of an entity.
export const rateMark = (brand: Brand, row: Compared, x: string, more?: Record<string, string>): Mark => ({
  key: keyOf(brand, row),
  x,
  y: row.mention_rate_pct,
  range: row.mention_rate_interval ?? tooFew,
  n: row.result_count,
  href: naming(brand, row, more),
})

export const weak = 100 // answers, below which a group stands last, and in no headline
