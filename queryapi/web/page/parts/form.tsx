import type { ComponentChildren, ComponentProps } from "preact"
import { useId, useState } from "preact/hooks"
import { messageOf } from "../api.ts"

interface FieldProps {
  label: string
  value: string
  onInput: (value: string) => void
  type?: "text" | "email" | "password"
  hint?: string
  rows?: number // of a text of several lines
  required?: boolean
  autoFocus?: boolean
  autoComplete?: string
  inputMode?: "numeric" | "decimal"
}

// Field is a labelled text box.
export function Field({ label, value, onInput, hint, rows, ...rest }: FieldProps) {
  const id = useId()
  const shared = {
    id, value, ...rest, "aria-describedby": hint ? id + "h" : undefined,
    onInput: (event: Event) => onInput((event.currentTarget as HTMLInputElement).value),
  }
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {rows ? <textarea rows={rows} {...shared} /> : <input {...(shared as ComponentProps<"input">)} />}
      {hint && (
        <span class="hint" id={id + "h"}>
          {hint}
        </span>
      )}
    </div>
  )
}

export function Select({ label, value, onInput, children }: { label: string; value: string; onInput: (value: string) => void; children: ComponentChildren }) {
  return (
    <label class="field">
      <span>{label}</span>
      <select value={value} onInput={(event) => onInput(event.currentTarget.value)}>
        {children}
      </select>
    </label>
  )
}

// Choice is a select without a label of its own, in a row of a table.
export function Choice({ name, value, among, busy, onInput }: { name: string; value: string; among: readonly string[]; busy: boolean; onInput: (value: string) => void }) {
  return (
    <select aria-label={name} value={value} disabled={busy} onInput={(event) => onInput(event.currentTarget.value)}>
      {among.map((one) => (
        <option key={one}>{one}</option>
      ))}
    </select>
  )
}

// Button does something at once. A form is sent by a plain button.
export function Button({ kind = "plain tight", ...rest }: { kind?: string } & ComponentProps<"button">) {
  return <button type="button" class={`button ${kind}`} {...rest} />
}

// useAction runs one write at a time, and keeps why it failed. submit makes one of it that a form sends.
export function useAction() {
  const [busy, setBusy] = useState(false)
  const [failed, fail] = useState("")
  const run = async (act: () => Promise<unknown>) => {
    if (busy) return
    setBusy(true)
    fail("")
    try {
      await act()
    } catch (error) {
      fail(messageOf(error))
    }
    setBusy(false)
  }
  const submit = (act: () => Promise<unknown>) => (event: Event) => {
    event.preventDefault()
    void run(act)
  }
  return { busy, failed, run, submit }
}

// useAdding is a text that a form adds to a list. What is typed while it is saved stays; a text that is refused comes back.
export function useAdding(add: (text: string) => Promise<unknown>) {
  const [text, setText] = useState("")
  const { submit, ...action } = useAction()
  const take = async () => {
    setText("")
    try {
      await add(text)
    } catch (error) {
      setText((typed) => typed || text)
      throw error
    }
  }
  return { text, setText, take, onSubmit: submit(take), ...action }
}

export function Problem({ text }: { text: string }) {
  return text ? (
    <p class="notice bad" role="alert">
      {text}
    </p>
  ) : null
}
