import type { ComponentChildren } from "preact"
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks"

interface Props {
  name: string // accessible name of the button and of what it opens
  shows?: ComponentChildren // what the button shows; without, its name
  kind?: string // class of the button
  hotkey?: string // the key that opens it (keys.tsx)
  children: ComponentChildren
}

// Menu is a button and the panel that it opens. Escape, a link in it, and leaving it close it.
export function Menu({ name, shows = name, kind = "button tight", hotkey, children }: Props) {
  const [open, set] = useState(false)
  const box = useRef<HTMLDivElement>(null)
  const id = useId()
  useLayoutEffect(() => {
    if (!open) return
    box.current!.querySelector<HTMLElement>(".panel :is(a, button, input, select)")?.focus()
    const leave = (event: Event) => box.current!.contains(event.target as Node) || set(false)
    document.addEventListener("pointerdown", leave)
    document.addEventListener("focusin", leave)
    return () => {
      document.removeEventListener("pointerdown", leave)
      document.removeEventListener("focusin", leave)
    }
  }, [open])
  const close = () => {
    set(false)
    box.current!.querySelector("button")!.focus()
  }
  return (
    <div class="menu" ref={box} onKeyDown={(event) => open && event.key === "Escape" && close()}>
      <button type="button" class={kind} aria-label={name} aria-expanded={open} aria-controls={id} data-hotkey={hotkey} onClick={() => set(!open)}>
        {shows}
      </button>
      <div id={id} class="panel" role="group" aria-label={name} hidden={!open} onClick={(event) => (event.target as Element).closest("a") && close()}>
        {children}
      </div>
    </div>
  )
}
