// The part of the address that the screens of a brand share: the window, the filters, and the comparison.
import { metrics } from "../api.ts"
import type { Brand } from "../bodies.ts"
import { shift, today } from "../format.ts"
import { addressOf, path, query, shared, token } from "../route.ts"

// common are the parameters that all screens of a brand share: they stay from one to the next.
export const common = ["date_from", "date_to", "platform", "model", "region", "topic_id", "branded"] as const

// chosen are the common parameters of the address, with more.
export function chosen(more: Record<string, string | undefined> = {}): Record<string, string | undefined> {
  return { ...Object.fromEntries(common.map((name) => [name, query.value.get(name) ?? undefined])), ...more }
}

// question is the address of an endpoint about a brand, as the address of the page filters it. Visits and crawls have no
// model, region, topic or prompt, and their endpoints refuse such a filter.
export function question(endpoint: string, brand: Brand, more: Record<string, string | undefined> = {}): string {
  const none = endpoint === "ai-traffic" || endpoint === "ai-crawlers" ? { model: undefined, region: undefined, topic_id: undefined, branded: undefined } : {}
  return metrics(endpoint, chosen({ brand_id: brand.id, ...none, ...more }))
}

// apart are the screens whose platforms are not those of answers.
const apart = ["traffic", "shopping"]

// screen is the address of a screen of a brand, with the same window and filters, and more parameters. Between screens
// that know different platforms the platform is left out. A share link has no others than its own.
export function screen(brand: Brand, name = "", more: Record<string, string | undefined> = {}): string | undefined {
  if (token && !shared.value.screens.includes(name.split("/")[0] || "overview")) return
  const at = path.value.split("/")[3] ?? ""
  const parted = name !== at && (apart.includes(at) || apart.includes(name))
  return addressOf((token ? `/share/${token}` : `/brands/${encodeURIComponent(brand.slug)}`) + (name && "/" + name), chosen({ compare: query.value.get("compare") ?? undefined, ...(parted && { platform: undefined }), ...more }))
}

// chosenWindow is the window of the address as the API reads it: without an end up to today, without a start 30 days.
export function chosenWindow(): { from: string; to: string } {
  const { date_from, date_to } = chosen()
  const to = date_to ?? today()
  return { from: date_from ?? shift(to, -29), to }
}

// compares says whether figures stand beside those of the days before.
export const compares = () => query.value.get("compare") !== "none"
