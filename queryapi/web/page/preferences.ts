// How this browser shows the dashboard, until its user signs out.
import { effect, signal } from "@preact/signals"

function preference(name: string) {
  const choice = signal(localStorage.getItem(name) ?? "")
  effect(() => (choice.value ? localStorage.setItem(name, choice.value) : localStorage.removeItem(name)))
  return choice
}

export const theme = preference("theme") // light or dark; without, the system's
export const density = preference("density") // compact
export const hotkeys = preference("hotkeys") // off

effect(() => {
  Object.assign(document.documentElement.dataset, { theme: theme.value, density: density.value })
})
