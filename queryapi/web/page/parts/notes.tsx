import { useState } from "preact/hooks"
import { tables, useAnswer, write } from "../api.ts"
import type { Annotation, Brand, Session } from "../bodies.ts"
import type { Flag } from "../chart/marks.ts"
import { date } from "../format.ts"
import { mayEdit } from "../session.ts"
import { FormDialog } from "./dialog.tsx"
import { Field } from "./form.tsx"

// useNotes are the notes on days of a window, of a brand and of all brands, as flags of a chart. dialog adds one to the day
// that onNote was called with; who may not write has no onNote.
export function useNotes(brand: Brand, session: Session, from: string, to: string) {
  const [day, choose] = useState<string>()
  const notes = useAnswer<Annotation[]>(
    tables("annotations", {
      or: `(brand_id.eq.${brand.id},brand_id.is.null)`,
      and: `(day.lte.${to},or(day.gte.${from},day_to.gte.${from}))`,
      order: "day",
    }),
  )
  const flags = (notes.data ?? []).map(({ id, day, day_to, text, url }): Flag => ({
    day: day < from ? from : day,
    until: day_to === null ? undefined : day_to > to ? to : day_to,
    kind: "note",
    text,
    href: url ?? undefined,
    onRemove: mayEdit(session) ? () => void write("DELETE", tables("annotations", { id: `eq.${id}` })) : undefined,
  }))
  return {
    flags,
    onNote: mayEdit(session) ? choose : undefined,
    dialog: day && <AddNote brand={brand} day={day} onClose={() => choose(undefined)} />,
  }
}

function AddNote({ brand, day, onClose }: { brand: Brand; day: string; onClose: () => void }) {
  const [text, setText] = useState("")
  const [url, setURL] = useState("")
  const add = async () => {
    await write("POST", tables("annotations"), { brand_id: brand.id, day, text: text.trim(), url: url.trim() || null })
    onClose()
  }
  return (
    <FormDialog
      title={`Add a note to ${date(day)}`}
      act="Add note"
      can={text.trim() !== ""}
      onClose={onClose}
      onAct={add}
    >
      <Field
        label="Note"
        value={text}
        onInput={setText}
        hint="What happened, such as: new site. Up to 280 characters."
        required
        autoFocus
      />
      <Field label="Link" value={url} onInput={setURL} hint="Where one reads more, if anywhere." />
    </FormDialog>
  )
}
