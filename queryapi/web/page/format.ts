// Figures as people read them: in full, in the English of the United States, as the API rounds them.
const numbers = new Intl.NumberFormat("en-US", { maximumFractionDigits: 10 })
const day = new Intl.DateTimeFormat("en-US", { timeZone: "UTC", year: "numeric", month: "short", day: "numeric" })
const moment = new Intl.DateTimeFormat("en-US", { timeZone: "UTC", year: "numeric", month: "short", day: "numeric", hour: "2-digit", minute: "2-digit", hour12: false })

export const none = "–"

const decimals = new Intl.NumberFormat("en-US", { minimumFractionDigits: 1, maximumFractionDigits: 10 })

type Value = number | null | undefined

function write(format: Intl.NumberFormat, value: Value, unit: string): string {
  if (value === null || value === undefined) return none
  return format.format(value) + (unit === "%" ? unit : unit && " " + unit)
}

// inUnit is a value with its unit: 40.5%, 12.3 USD.
export const inUnit = (value: Value, unit: string) => write(numbers, value, unit)

// inColumn is a percentage or score in a column, where all have a decimal: it is padded, never rounded.
export const inColumn = (value: Value, unit = "%") => write(decimals, value, unit)

export const number = (value: Value) => inUnit(value, "")
export const percent = (value: Value) => inUnit(value, "%")

const cents = new Intl.NumberFormat("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 })

// money is an amount to two decimals.
export function money(amount: number, currency = "USD"): string {
  return `${amount > 0 && amount < 0.01 ? "< 0.01" : cents.format(amount)} ${currency}`
}

const short = new Intl.NumberFormat("en-US", { notation: "compact", maximumFractionDigits: 1 })

// compact is a number in a chart: in full up to 9,999, then as 14.5K.
export function compact(value: number): string {
  return Math.abs(value) < 10_000 ? number(value) : short.format(value)
}

const shares = new Intl.NumberFormat("en-US", { style: "percent", maximumFractionDigits: 1 })

// ofAll is a share, 0 to 1, as percent.
export function ofAll(share: number): string {
  return shares.format(share)
}

// date is a UTC day, wherever the viewer is; what is no day stays as it is.
export function date(text: string): string {
  const midnight = new Date(text.slice(0, 10) + "T00:00:00Z")
  return Number.isNaN(midnight.valueOf()) ? text : day.format(midnight)
}

// shortDate leaves out the year where it is this one.
export function shortDate(text: string): string {
  return text.slice(0, 4) === new Date().toISOString().slice(0, 4) ? date(text).split(",")[0]! : date(text)
}

export function time(text: string | null | undefined): string {
  return text ? moment.format(new Date(text)) + " UTC" : "never"
}

// stamp is a time for a list: without its year where that is this one, and without its zone, which is UTC.
export function stamp(text: string): string {
  const [month, year, at] = [date(text).split(",")[0], text.slice(0, 4), text.slice(11, 16)]
  return year === new Date().toISOString().slice(0, 4) ? `${month}, ${at}` : `${month}, ${year}, ${at}`
}

const ordinals = new Intl.PluralRules("en-US", { type: "ordinal" })
const endings: Record<string, string> = { one: "st", two: "nd", few: "rd" }

export function ordinal(n: number): string {
  return number(n) + (endings[ordinals.select(n)] ?? "th")
}

const regions = new Intl.DisplayNames("en-US", { type: "region" })

export function country(code: string | null): string {
  return code ? (regions.of(code) ?? code) : "Unknown"
}

export function plural(n: number, one: string, many = one + "s"): string {
  return `${number(n)} ${n === 1 ? one : many}`
}

// capitalized is a text that begins with a capital letter.
export const capitalized = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

// daysBefore names the days that a window is compared with.
export const daysBefore = (n: number) => `the ${n === 1 ? "day" : plural(n, "day")} before`

export const today = () => new Date().toISOString().slice(0, 10)

// shift is a day some days later; what is no day stays as it is, for the API to refuse.
export function shift(from: string, days: number): string {
  const midnight = Date.parse(from + "T00:00:00Z")
  return Number.isNaN(midnight) ? from : new Date(midnight + days * 86_400_000).toISOString().slice(0, 10)
}

// daysOf is how many days a window has, both ends counted.
export function daysOf(from: string, to: string): number {
  return Math.round((Date.parse(to) - Date.parse(from)) / 86_400_000) + 1
}
