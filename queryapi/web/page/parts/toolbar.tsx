import { type ComponentType, createContext } from "preact"
import { useContext, useRef, useState } from "preact/hooks"
import { metrics, tables, useAnswer } from "../api.ts"
import type { Brand, Filters, Session } from "../bodies.ts"
import { date, daysOf, plural, shift, shortDate, today } from "../format.ts"
import { go, path, query, shared, token, withParameters } from "../route.ts"
import { editor, shareable, meta } from "../session.ts"
import { chosen, chosenWindow, compares, screen } from "./filters.tsx"
import { Button, Select, useAction } from "./form.tsx"
import { Icon } from "./icon.tsx"
import { Menu } from "./menu.tsx"
import { platformName } from "./platform.ts"
import { Download } from "./table.tsx"

// Brands are those that the viewer may see.
export const Brands = createContext<Brand[]>([])

// A Filter is a parameter of the address. Without options it is only a chip, where it is set.
export interface Filter {
  name: string
  label: string
  options?: readonly (readonly [value: string, text: string])[]
}

interface Props {
  brand: Brand
  timeless?: boolean // nothing on the screen has a window
  only?: string[] // the parameters of answers that the screen filters by; without, all
  platforms?: string[] // in place of those of answers
  regions?: string[]
  more?: Filter[]
  csv?: { url: string; file: string }
}

// Toolbar is the first line of a brand's screen, which stays when it scrolls. It is bound to the address: each change is one
// entry of the history.
export function Toolbar({ brand, timeless, more = [], csv, ...answers }: Props) {
  const values = useFilterValues(brand, timeless || answers.only?.length === 0)
  const filters = [...filtersOf(values, timeless ? { only: [] } : answers), ...more]
  const at = query.value
  const { fixed } = shared.value
  const chooses = !timeless && !fixed.date_from // the days
  const set = (name: string) => (value: string) => go(withParameters({ [name]: value, cursor: undefined }))
  const textOf = ({ name, options }: Filter) => options?.find(([value]) => value === at.get(name))?.[1] ?? at.get(name)
  const chips = filters.filter(({ name }) => at.has(name)).map((filter) => ({ ...filter, text: `${filter.label}: ${textOf(filter)}` }))
  return (
    <section class="toolbar" aria-label="Window and filters">
      <p class="printed">{[brand.name, !timeless && windowText(), ...chips.map((chip) => chip.text)].filter(Boolean).join(" · ")}</p>
      {!token && <BrandChoice brand={brand} />}
      {chooses ? <Window /> : !timeless && windowText()}
      <ul class="chips" aria-label="Filters">
        {chips.map(({ name, text }) => (
          <li key={name}>
            {text}
            {!fixed[name] && (
              <button type="button" aria-label={`Remove ${text}`} onClick={() => set(name)("")}>
                <Icon name="close" />
              </button>
            )}
          </li>
        ))}
      </ul>
      {!timeless && (
        <Menu name="Filter" hotkey="/" shows={<><Icon name="filter" /> <span class="wide">Filter</span></>}>
          <div class="filters">
            {filters.map(
              ({ name, label, options }) =>
                options && !fixed[name] && (
                  <Select key={name} label={label} value={at.get(name) ?? ""} onInput={set(name)}>
                    <option value="">All</option>
                    {options.map(([value, text]) => (
                      <option key={value} value={value}>
                        {text}
                      </option>
                    ))}
                  </Select>
                ),
            )}
            {chooses && <Dates />}
          </div>
        </Menu>
      )}
      {!timeless && editor.value && shareable.includes(path.value.split("/")[3] || "overview") && <Teller brand={brand} name="Share" dialog="ShareDialog" />}
      <Menu name="More" kind="button plain tight" shows={<Icon name="more" />}>
        {csv && <Download name={csv.file} {...csv} />}
        <a class="button plain tight" href={screen(brand, "report")}>
          <Icon name="print" /> Print report
        </a>
        <CopyLink />
      </Menu>
      {values?.simulated && <p class="strip">Simulated data: some of these answers are made up.</p>}
    </section>
  )
}

// Teller is a button that opens a dialog of the part tell.
export function Teller({ brand, name, kind, dialog }: { brand?: Brand; name: string; kind?: string; dialog: "NotifyDialog" | "PasswordDialog" | "ShareDialog" }) {
  const [Shown, show] = useState<ComponentType<{ brand: Brand; onClose: () => void }> | null>(null)
  const { failed, run } = useAction()
  return (
    <>
      <Button kind={kind} onClick={() => run(() => import("../tell.ts").then((m) => show(() => m[dialog])))}>{name}</Button>
      {failed && <span role="alert">{failed}</span>}
      {Shown && <Shown brand={brand!} onClose={() => show(null)} />}
    </>
  )
}

export const aboutBrand = (brand: Brand) => `(brand_id.eq.${brand.id},brand_id.is.null)`

// Notifier opens what the viewer is mailed about a brand, and says whether they are.
export function Notifier({ brand, session }: { brand: Brand; session: Session }) {
  const own = { user_id: `eq.${session.userId}`, stopped_at: "is.null", or: aboutBrand(brand), select: "id", limit: "1" }
  const rows = useAnswer<unknown[]>(meta("mails") ? tables("subscriptions", own) : null).data
  return <Teller brand={brand} name={rows?.length ? "You are notified ✓" : "Notify me"} kind="" dialog="NotifyDialog" />
}

// useFilterValues has the values of filters in the window.
function useFilterValues(brand: Brand, none: boolean): Filters | undefined {
  const { date_from, date_to } = chosen()
  return useAnswer<Filters>(none ? null : metrics("filters", { brand_id: brand.id, date_from, date_to })).data
}

function filtersOf(values: Filters | undefined, { only, platforms, regions }: Pick<Props, "only" | "platforms" | "regions">): Filter[] {
  const list = (name: string, label: string, codes: string[] = []): Filter => {
    const now = query.value.get(name)
    return { name, label, options: [...new Set(now ? [...codes, now] : codes)].map((code, _, all) => [code, name === "platform" ? platformName(code, all) : code] as const) }
  }
  const topics = (values?.topics ?? []).map((t) => [t.id, t.name ?? "a deleted topic"] as const)
  const topic = query.value.get("topic_id")
  if (topic && values && !topics.some(([id]) => id === topic)) topics.push([topic, "a topic without answers"])
  const filters: Filter[] = [
    list("platform", "Platform", platforms ?? values?.platforms),
    list("model", "Model", values?.models),
    list("region", "Region", regions ?? values?.regions),
    { name: "topic_id", label: "Topic", options: topics },
    { name: "branded", label: "Prompts", options: [["false", "without the brand's name"], ["true", "with the brand's name"]] },
  ]
  return filters.filter(({ name }) => !only || only.includes(name))
}

function BrandChoice({ brand }: { brand: Brand }) {
  const brands = useContext(Brands)
  const at = path.value.split("/")[3]
  const show = (id: string) => {
    const next = brands.find((b) => b.id === id)
    if (next) go(screen(next, at, { topic_id: undefined })) // a topic is of one brand
  }
  return (
    <label class="brand">
      <span class="hidden">Brand</span>
      <select value={brand.id} onInput={(event) => show(event.currentTarget.value)}>
        {brands.map((b) => (
          <option key={b.id} value={b.id}>
            {b.name}
          </option>
        ))}
      </select>
    </label>
  )
}

// windowText has the first and the last day of the window.
export function windowText(write = date): string {
  const { from, to } = chosenWindow()
  return from === to ? write(from) : `${write(from)} – ${write(to)}`
}

// Window chooses days up to today, and whether figures are compared with the days before them.
function Window() {
  const { from, to } = chosenWindow()
  const length = daysOf(from, to)
  const text = to === today() && length > 0 ? plural(length, "day") : windowText(shortDate)
  return (
    <Menu name={`Window: ${text}`} shows={<>{text} <Icon name="chevron" /></>}>
      <nav class="segments" aria-label="Window">
        {[7, 28, 30, 90].map((days) => (
          <a key={days} href={withParameters({ date_from: shift(today(), 1 - days), date_to: today(), cursor: undefined })} aria-current={to === today() && length === days ? "true" : undefined}>
            {days} days
          </a>
        ))}
      </nav>
      <label class="check">
        <input type="checkbox" checked={compares()} onInput={() => compare()} /> Compare with the days before
      </label>
    </Menu>
  )
}

// compare shows the comparison with the days before, or hides it.
export function compare(): void {
  go(withParameters({ compare: compares() ? "none" : undefined }))
}

function Dates() {
  const { from, to } = chosenWindow()
  return (
    <>
      <DateField label="From" value={from} max={to} onInput={(value) => go(withParameters({ date_from: value, date_to: to, cursor: undefined }))} />
      <DateField label="To" value={to} min={from} onInput={(value) => go(withParameters({ date_from: from, date_to: value, cursor: undefined }))} />
    </>
  )
}

// DateField takes a day that is picked at once, and one that is typed when it is left or by Enter: browsers report each key.
function DateField({ label, value, min, max, onInput }: { label: string; value: string; min?: string; max?: string; onInput: (value: string) => void }) {
  const typing = useRef(false)
  const take = ({ currentTarget: { value: day } }: { currentTarget: HTMLInputElement }) => day && day !== value && onInput(day)
  return (
    <label class="field">
      <span>{label}</span>
      <input type="date" value={value} min={min} max={max} onPointerDown={() => (typing.current = false)}
        onKeyDown={(event) => (typing.current = event.key !== "Enter") || take(event)} onChange={(event) => typing.current || take(event)} onBlur={take} />
    </label>
  )
}

function CopyLink() {
  const [said, say] = useState("")
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(location.href)
      say("Copied")
    } catch {
      say("Copy it from the address line") // as without TLS
    }
  }
  return (
    <>
      <Button onClick={copy}>
        <Icon name="copy" /> Copy link
      </Button>
      <span role="status" class="small soft">
        {said}
      </span>
    </>
  )
}
