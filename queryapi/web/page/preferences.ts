// How this browser shows the dashboard, until its user signs out.
import { effect, signal } from "@preact/signals"
import { token } from "./route.ts"

const storage = token ? undefined : localStorage // which may be refused in a frame

function preference(name: string) {
  const choice = signal(storage?.getItem(name) ?? "")
  effect(() => (choice.value ? storage?.setItem(name, choice.value) : storage?.removeItem(name)))
  return choice
}

export const theme = preference("theme") // light or dark; without, the system's
export const density = preference("density") // compact
export const hotkeys = preference("hotkeys") // off

effect(() => {
  Object.assign(document.documentElement.dataset, { theme: theme.value, density: density.value })
})
