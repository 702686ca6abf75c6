import type { Brand } from "../bodies.ts"
import { screen } from "../parts/filters.tsx"

// answers is the address of the answers that a figure counts.
export function answers(brand: Brand, more: Record<string, string | undefined> = {}): string {
  return screen(brand, "answers", more)
}
