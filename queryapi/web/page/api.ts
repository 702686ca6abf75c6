// The one place that asks the server: paths, errors, and a session that has ended.
import { signal } from "@preact/signals"
import { useEffect, useState } from "preact/hooks"
import { capitalized } from "./format.ts"
import { addressOf, token } from "./route.ts"

export const root = token ? "/share/api" : "/app/api"

export const asOf = signal("") // when the server last answered the viewer of a share link

// A Failure is why a request gave nothing, in words for the viewer. Its status is the response's, 0 without one.
export class Failure extends Error {
  constructor(readonly status: number, message: string) {
    super(message)
  }

  // passes says whether the same question may be answered later.
  get passes(): boolean {
    return this.status === 0 || this.status === 429 || this.status >= 500
  }
}

// messageOf is why something failed, in words for the viewer.
export const messageOf = (error: unknown) => (error instanceof Failure ? error.message : String(error))

// leave goes to the sign-in, which comes back here.
export function leave(): void {
  location.replace("/signin?next=" + encodeURIComponent(location.pathname + location.search))
}

// send asks the server; a body makes it a write. 204 is null. Rows of a table that come in parts, each but the last with
// status 206, are asked for until all are there.
export async function send<T>(method: string, url: string, body?: unknown, headers: Record<string, string> = {}): Promise<T> {
  let response = await ask(method, url, headers, body)
  const text = await response.text()
  const result = (text ? JSON.parse(text) : null) as T
  const next = new URL(url, location.href)
  const [offset, limit] = [Number(next.searchParams.get("offset") ?? 0), next.searchParams.get("limit")]
  while (method === "GET" && response.status === 206 && Array.isArray(result)) {
    next.searchParams.set("offset", String(offset + result.length))
    if (limit) next.searchParams.set("limit", String(Number(limit) - result.length))
    response = await ask(method, next.pathname + next.search, headers)
    result.push(...((await response.json()) as unknown[]))
  }
  return result
}

async function ask(method: string, url: string, headers: Record<string, string>, body?: unknown): Promise<Response> {
  let response: Response
  try {
    response = await fetch(url, {
      method,
      headers: { "X-Answerscope": "1", ...(token && { "X-Share": token }), ...(body === undefined ? {} : { "Content-Type": "application/json" }), ...headers },
      body: body === undefined ? null : JSON.stringify(body),
    })
  } catch (error) {
    if ((error as Error).name === "AbortError") throw error
    throw new Failure(0, "The server does not answer. Check your connection, then try again.")
  }
  if (token) asOf.value = response.headers.get("Date") ?? ""
  else if (response.status === 401) {
    leave()
    return new Promise(() => {}) // the page goes away
  }
  if (!response.ok) throw new Failure(response.status, await reason(response))
  return response
}

const mostPages = 50 // of a download

// asCSV asks for a list as comma-separated values, page after page. more says that the list has more than these pages.
export async function asCSV(url: string): Promise<{ text: string; more: boolean }> {
  let [text, next]: [string, string | undefined] = ["", url]
  for (let page = 0; next && page < mostPages; page++) {
    const response = await ask("GET", next, { Accept: "text/csv" })
    const lines = await response.text()
    text += page === 0 ? lines : lines.slice(lines.indexOf("\n") + 1) // each page has the header
    next = /<([^>]+)>; rel="next"/.exec(response.headers.get("Link") ?? "")?.[1]
  }
  return { text, more: next !== undefined }
}

interface Refusal { error?: string; message?: string; code?: string }

async function reason(response: Response): Promise<string> {
  const body = (await response.json().catch(() => ({}))) as Refusal
  const said = ofDatabase(body) ?? body.error ?? body.message
  if (response.status === 503 && said?.includes("ANSWERSCOPE_")) return spoken(said) + "." // the operator has not set it
  if (response.status === 503) return "The server starts, or one of its databases is away. Try again in a few seconds."
  if (response.status === 429) return `Too many requests. Try again in ${response.headers.get("Retry-After") ?? "a few"} seconds.`
  if (response.status >= 500) return `The server made a mistake (request ${response.headers.get("X-Request-Id") ?? "unknown"}). Tell its operator.`
  return said ? spoken(said) + "." : `The server refuses this (${response.status}).`
}

// spoken has a reason as a sentence, and the parameters that it names as words: runsPerDay is runs per day.
function spoken(said: string): string {
  const words = said.replace(/\b[a-z]+(?:_[a-z]+|[A-Z][a-z]+)+(?=:)/g, (name) => name.replace(/_id$/, "").replace(/_|(?=[A-Z])/g, " ").toLowerCase())
  return capitalized(words)
}

// ofDatabase is why the database refused a row, in words for the viewer, by SQLSTATE.
function ofDatabase({ code, message = "" }: Refusal): string | undefined {
  const thing = /constraint "(?:brand_)?([a-z]+)s_brand_id_/.exec(message)?.[1] ?? "name"
  if (code === "23505") return `This ${thing} is there already`
  if (code === "23503") return "What this belongs to is gone: load the page again"
  if (code === "42501") return "Your role does not allow this: ask an administrator"
  const column = /check constraint "[a-z_]+?_(name|text|alias|industry|region|language|model)(?:es)?_/.exec(message)?.[1]
  return column && `This ${column} is blank or too long`
}

// version rises with each change, so that what is shown is asked for again.
export const version = signal(0)

export async function write<T>(method: string, url: string, body?: unknown, headers?: Record<string, string>): Promise<T> {
  const result = await send<T>(method, url, body, headers)
  refresh()
  return result
}

// refresh asks again for all that is shown.
export function refresh(): void {
  version.value++
}

export interface Answered<T> {
  data?: T
  failure?: Failure
  loading: boolean // data, if there is some, is of the previous question
}

const kept = new Map<string, unknown>() // answers by their address, to go back without a flicker

// useAnswer asks for an address and keeps the answer before until the next one is there; null asks nothing.
export function useAnswer<T>(url: string | null): Answered<T> {
  const [state, set] = useState<{ url: string | null; data?: T; failure?: Failure }>({ url: null })
  const changes = version.value
  useEffect(() => {
    if (!url) return
    let current = true
    send<T>("GET", url).then(
      (data) => {
        if (!current) return
        if (kept.size > 60) kept.clear()
        kept.set(url, data)
        set({ url, data })
      },
      (error: unknown) => current && set({ url, failure: error instanceof Failure ? error : new Failure(0, String(error)) }),
    )
    return () => void (current = false)
  }, [url, changes])
  if (!url) return { loading: false }
  if (state.url === url) return { data: state.data, failure: state.failure, loading: !state.data && !state.failure }
  const before = sameSubject(state.url, url) ? state.data : undefined
  const data = (kept.get(url) as T | undefined) ?? before
  return { data, loading: !kept.has(url) }
}

// sameSubject says whether an answer may stand in for another one: it is of the same path and brand.
function sameSubject(a: string | null, b: string): boolean {
  if (!a) return false
  const [x, y] = [new URL(a, location.href), new URL(b, location.href)]
  return x.pathname === y.pathname && x.searchParams.get("brand_id") === y.searchParams.get("brand_id")
}

// metrics is the address of an endpoint of /api/v1, tables that of a table of /rest/v1, which a share link has not.
export function metrics(endpoint: string, parameters: Record<string, string | undefined> = {}): string {
  return addressOf(`${root}/v1/${endpoint}`, parameters)
}

export function tables(table: string, parameters: Record<string, string | undefined> = {}): string {
  return token ? "" : addressOf(`${root}/rest/v1/${table}`, parameters)
}
