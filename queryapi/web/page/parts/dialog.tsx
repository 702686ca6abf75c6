import type { ComponentChildren } from "preact"
import { useEffect, useId, useRef, useState } from "preact/hooks"
import { Button, Problem, useAction } from "./form.tsx"

let opener: HTMLElement | null = null // what had the focus before the first of several dialogs

// Dialog is modal: it holds the focus, Escape closes it, and the focus goes back to where it was, also after another dialog
// that it led to.
export function Dialog({ title, onClose, children }: { title: string; onClose: () => void; children: ComponentChildren }) {
  const box = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => {
    const at = document.activeElement as HTMLElement | null
    if (at && at !== document.body && !at.closest("dialog")) opener = at
    box.current?.showModal()
    return () => setTimeout(() => document.querySelector("dialog[open]") ?? opener?.focus())
  }, [])
  return (
    <dialog
      ref={box}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
    >
      <div class="inside">
        <h2 id={id}>{title}</h2>
        {children}
      </div>
    </dialog>
  )
}

interface Asked {
  title: string
  act: string // of the button that does it
  can?: boolean // false: something is missing yet
  danger?: boolean
  onClose: () => void
  onAct: () => Promise<unknown> // after it the dialog is closed
  children: ComponentChildren
}

// FormDialog asks for what a write needs. Where the write fails it stays, and says why.
export function FormDialog({ title, act, can = true, danger, onClose, onAct, children }: Asked) {
  const { busy, failed, submit } = useAction()
  return (
    <Dialog title={title} onClose={onClose}>
      <form onSubmit={submit(() => onAct().then(onClose))}>
        {children}
        <Problem text={failed} />
        <div class="actions">
          <Button kind="" onClick={onClose}>
            Cancel
          </Button>
          <button class={danger ? "button danger" : "button primary"} disabled={busy || !can}>
            {act}
          </button>
        </div>
      </form>
    </Dialog>
  )
}

// Confirm asks before what cannot be undone.
export function Confirm({ children, ...asked }: Asked) {
  return (
    <FormDialog danger {...asked}>
      <p>{children}</p>
    </FormDialog>
  )
}

// Once shows a text to copy, which is seen this one time.
export function Once({ title, text, onClose, children }: { title: string; text: string; onClose: () => void; children: ComponentChildren }) {
  const [copied, setCopied] = useState("")
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text) // without TLS there is no clipboard
      setCopied("Copied.")
    } catch {
      setCopied("The browser does not allow it: select the text and copy it.")
    }
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <p>Copy it now: it is shown this once. {children}</p>
      <code class="secret">{text}</code>
      <div class="actions">
        <span role="status" class="soft">
          {copied}
        </span>
        <Button kind="" onClick={copy}>
          Copy
        </Button>
        <Button kind="primary" onClick={onClose}>
          Done
        </Button>
      </div>
    </Dialog>
  )
}
