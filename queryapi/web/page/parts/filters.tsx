import type { ComponentChildren } from "preact"
import { useState } from "preact/hooks"
import { metrics, useAnswer } from "../api.ts"
import type { Brand, Filters } from "../bodies.ts"
import { daysOf, shift } from "../format.ts"
import { addressOf, go, path, query, withParameters } from "../route.ts"
import { Select } from "./form.tsx"

// common are the parameters that all screens of a brand share: they stay from one to the next.
export const common = ["date_from", "date_to", "platform", "model", "region", "topic_id", "branded"] as const

// chosen are the common parameters of the address, with more.
export function chosen(more: Record<string, string | undefined> = {}): Record<string, string | undefined> {
  return { ...Object.fromEntries(common.map((name) => [name, query.value.get(name) ?? undefined])), ...more }
}

// question is the address of an endpoint about a brand, as the address of the page filters it.
export function question(endpoint: string, brand: Brand, more: Record<string, string | undefined> = {}): string {
  return metrics(endpoint, chosen({ brand_id: brand.id, ...more }))
}

// apart are the screens whose platforms are not those of answers.
const apart = ["traffic", "shopping"]

// screen is the address of a screen of a brand, with the same window and filters, and more parameters. Between screens
// that know different platforms the platform is left out.
export function screen(brand: Brand, name = "", more: Record<string, string | undefined> = {}): string {
  const at = path.value.split("/")[3] ?? ""
  const parted = name !== at && (apart.includes(at) || apart.includes(name))
  return addressOf(`/brands/${encodeURIComponent(brand.slug)}${name && "/" + name}`, chosen({ ...(parted && { platform: undefined }), ...more }))
}

const today = () => new Date().toISOString().slice(0, 10)

// Window chooses how many days up to today.
export function Window() {
  const { from, to } = chosenWindow()
  return (
    <nav class="segments" aria-label="Window">
      {[7, 30, 90].map((days) => (
        <a key={days} href={withParameters({ date_from: shift(today(), 1 - days), date_to: today(), cursor: undefined })} aria-current={to === today() && daysOf(from, to) === days ? "true" : undefined}>
          {days} days
        </a>
      ))}
    </nav>
  )
}

// chosenWindow is the window of the address as the API reads it: of one day alone, the 30 days that it begins or ends.
export function chosenWindow(): { from: string; to: string } {
  const { date_from, date_to } = chosen()
  const to = date_to ?? (date_from ? shift(date_from, 29) : today())
  return { from: date_from ?? shift(to, -29), to }
}

interface Props {
  brand: Brand
  platforms?: string[] // of visits, which know no model, region, topic or prompt: without, all filters of answers
  ofCards?: { platforms: string[]; regions: string[] } // shopping cards, of platforms of their own, which know no model
  children?: ComponentChildren
}

// FilterBar is bound to the address: each change is one entry of the history. On a phone it is folded.
export function FilterBar({ brand, platforms, ofCards, children }: Props) {
  const [open, unfold] = useState(false)
  const at = query.value
  const { date_from, date_to } = chosen()
  const known = useAnswer<Filters>(metrics("filters", { brand_id: brand.id, date_from, date_to })).data
  const { from, to } = chosenWindow()
  const set = (name: string) => (value: string) => go(withParameters({ [name]: value, cursor: undefined }))
  const options = (values: string[], name: string) => {
    const now = at.get(name)
    return [...new Set(now ? [...values, now] : values)].map((value) => (
      <option key={value} value={value}>
        {value}
      </option>
    ))
  }
  const chosenNow = common.filter((name) => at.has(name)).length
  return (
    <div class={open ? "filters open" : "filters"} role="group" aria-label="Filters">
      <button type="button" class="button unfold" aria-expanded={open} onClick={() => unfold(!open)}>
        Filters{chosenNow > 0 && ` (${chosenNow})`}
      </button>
      <DateField label="From" value={from} max={to} onInput={(value) => go(withParameters({ date_from: value, date_to: to, cursor: undefined }))} />
      <DateField label="To" value={to} min={from} onInput={(value) => go(withParameters({ date_from: from, date_to: value, cursor: undefined }))} />
      <Select label="Platform" value={at.get("platform") ?? ""} onInput={set("platform")}>
        <option value="">All</option>
        {options(platforms ?? (ofCards ?? known)?.platforms ?? [], "platform")}
      </Select>
      {!platforms && <OfAnswers known={known} ofCards={ofCards} options={options} set={set} />}
      {children}
    </div>
  )
}

interface OfAnswersProps {
  known?: Filters
  ofCards?: Props["ofCards"]
  options: (values: string[], name: string) => ComponentChildren
  set: (name: string) => (value: string) => void
}

// OfAnswers are the filters of what only answers have.
function OfAnswers({ known, ofCards, options, set }: OfAnswersProps) {
  const at = query.value
  const topic = at.get("topic_id") ?? ""
  return (
    <>
      {!ofCards && (
        <Select label="Model" value={at.get("model") ?? ""} onInput={set("model")}>
          <option value="">All</option>
          {options(known?.models ?? [], "model")}
        </Select>
      )}
      <Select label="Region" value={at.get("region") ?? ""} onInput={set("region")}>
        <option value="">All</option>
        {options((ofCards ?? known)?.regions ?? [], "region")}
      </Select>
      <Select label="Topic" value={topic} onInput={set("topic_id")}>
        <option value="">All</option>
        {(known?.topics ?? []).map((t) => (
          <option key={t.id} value={t.id}>
            {t.name ?? "a deleted topic"}
          </option>
        ))}
        {topic && known && !known.topics.some((t) => t.id === topic) && <option value={topic}>a topic without answers</option>}
      </Select>
      <Select label="Prompts" value={at.get("branded") ?? ""} onInput={set("branded")}>
        <option value="">All</option>
        <option value="false">without the brand's name</option>
        <option value="true">with the brand's name</option>
      </Select>
    </>
  )
}

function DateField({ label, value, min, max, onInput }: { label: string; value: string; min?: string; max?: string; onInput: (value: string) => void }) {
  return (
    <label class="field">
      <span>{label}</span>
      <input type="date" value={value} min={min} max={max} onChange={(event) => event.currentTarget.value && onInput(event.currentTarget.value)} />
    </label>
  )
}
