// Where the viewer is: everything that a screen shows is in the address, so that reload, back, share and bookmark work.
import { computed, signal } from "@preact/signals"

const at = signal(new URL(location.href))
export const path = computed(() => at.value.pathname)

// token is that of a share link, by which a viewer without an account is here; shared is what it shows, and the
// parameters that it fixes.
export const token = /^\/share\/([^/]+)/.exec(location.pathname)?.[1]
export const shared = signal<{ screens: string[]; fixed: Record<string, string> }>({ screens: [], fixed: {} })
export const query = computed(() => new URLSearchParams({ ...Object.fromEntries(at.value.searchParams), ...shared.value.fixed }))

addEventListener("popstate", () => (at.value = new URL(location.href)))

// go shows another address of the dashboard; each is an entry of the history.
export function go(to = "", replace = false): void {
  const next = new URL(to, location.href)
  if (next.href === location.href) return
  const elsewhere = next.pathname !== location.pathname
  history[replace ? "replaceState" : "pushState"](null, "", next)
  at.value = next
  if (elsewhere) {
    scrollTo(0, 0)
    arriving = true
    queueMicrotask(focusMain) // of a screen that stays
  }
}

let arriving = false

// arrive focuses a screen that appears, if go has led to it.
export function arrive(): void {
  if (arriving) focusMain()
  arriving = false
}

const focusMain = () => document.getElementById("main")?.focus({ preventScroll: true })

// withParameters is the present address with parameters changed; an empty value removes one.
export function withParameters(changes: Record<string, string | undefined>): string {
  return addressOf(path.value, { ...Object.fromEntries(query.value), ...changes })
}

export function addressOf(base: string, parameters: Record<string, string | undefined>): string {
  const set = new URLSearchParams()
  for (const [name, value] of Object.entries(parameters)) if (value) set.set(name, value)
  const text = set.toString()
  return text ? `${base}?${text}` : base
}

// Links of the dashboard change the address without loading the page again.
addEventListener("click", (event) => {
  const link = (event.target as Element | null)?.closest?.("a")
  const to = link?.getAttribute("href")
  if (!link || !to || event.defaultPrevented || event.button !== 0) return
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
  if (link.hasAttribute("download") || (link.getAttribute("target") ?? "_self") !== "_self") return
  const next = new URL(to, location.href)
  if (next.origin !== location.origin || next.pathname.startsWith("/app/") || (next.hash && next.pathname === location.pathname)) return
  event.preventDefault()
  go(next.href)
})
