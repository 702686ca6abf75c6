import { useEffect } from "preact/hooks"
import type { Brand } from "../bodies.ts"
import { hotkeys } from "../preferences.ts"
import { go } from "../route.ts"
import { screens } from "../screens/list.ts"
import { Button } from "./form.tsx"
import { compare } from "./toolbar.tsx"
import { Dialog } from "./dialog.tsx"
import { screen } from "./filters.tsx"

const patience = 1500 // ms after g

// useKeys answers single keys, except in fields, in dialogs, and where they are switched off.
export function useKeys(brand: Brand | undefined, list: () => void): void {
  useEffect(() => {
    let prefix = -patience // when g was pressed
    const press = (event: KeyboardEvent) => {
      if (hotkeys.value === "off" || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return
      if ((event.target as Element).closest("input, select, textarea") || document.querySelector("dialog[open]")) return
      if (event.timeStamp - prefix < patience) {
        const next = screens.find((s) => s.key === event.key)
        prefix = -patience
        if (event.key === "b") go("/")
        if (next && brand) go(screen(brand, next.path))
        return
      }
      if (event.key === "g") prefix = event.timeStamp
      else if (event.key === "?") list()
      else if (event.key === "x" && brand) compare()
      else if (event.key === "/") document.querySelector<HTMLElement>('[data-hotkey="/"]')?.click()
      else return
      event.preventDefault() // or the field that it leads to gets it
    }
    addEventListener("keydown", press)
    return () => removeEventListener("keydown", press)
  }, [brand?.id])
}

// KeyList says which keys do what.
export function KeyList({ onClose }: { onClose: () => void }) {
  const list = [
    ["/", "Filter"],
    ["x", "Compare with the days before, or not"],
    ["g b", "Brands"],
    ...screens.map((s) => [`g ${s.key}`, s.name]),
    ["← → ↑ ↓", "In a chart: from point to point"],
    ["Enter", "In a chart: the answers behind a point"],
    ["t", "In a chart: its table"],
    ["?", "This list"],
  ]
  return (
    <Dialog title="Keys" onClose={onClose}>
      <dl class="parts">
        {list.map(([key, name]) => (
          <div key={key}>
            <dt>{name}</dt>
            <dd>
              <kbd>{key}</kbd>
            </dd>
          </div>
        ))}
      </dl>
      <div class="actions">
        <Button kind="" onClick={onClose}>
          Close
        </Button>
      </div>
    </Dialog>
  )
}
