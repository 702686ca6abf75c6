import { useState } from "preact/hooks"
import { tables, useAnswer, write } from "../api.ts"
import type { Annotation, Brand, Session } from "../bodies.ts"
import type { Flag } from "../chart/marks.ts"
import { date } from "../format.ts"
import { mayEdit } from "../session.ts"
import { Confirm, FormDialog } from "./dialog.tsx"
import { Field } from "./form.tsx"

// useNotes are the notes on days of a window, of a brand and of all brands, as flags of a chart. dialog adds one to the day
// that onNote was called with, or asks before it removes one; who may not write has no onNote.
export function useNotes(brand: Brand, session: Session, from: string, to: string) {
  const [day, choose] = useState<string>()
  const [removed, remove] = useState<Annotation>()
  const notes = useAnswer<Annotation[]>(
    tables("annotations", {
      or: `(brand_id.eq.${brand.id},brand_id.is.null)`,
      and: `(day.lte.${to},or(day.gte.${from},day_to.gte.${from}))`,
      order: "day",
    }),
  )
  const flags = (notes.data ?? []).map((note): Flag => ({
    day: note.day,
    until: note.day_to ?? undefined,
    kind: "note",
    text: note.text,
    href: note.url ?? undefined,
    onRemove: mayEdit(session) ? () => remove(note) : undefined,
  }))
  return {
    flags,
    onNote: mayEdit(session) ? (at: string) => choose(at < from ? from : at) : undefined, // a week may begin before
    dialog: day ? (
      <AddNote brand={brand} day={day} onClose={() => choose(undefined)} />
    ) : (
      removed && <RemoveNote note={removed} onClose={() => remove(undefined)} />
    ),
  }
}

function RemoveNote({ note, onClose }: { note: Annotation; onClose: () => void }) {
  const act = () => write("DELETE", tables("annotations", { id: `eq.${note.id}` }))
  return (
    <Confirm title={`Remove the note of ${date(note.day)}?`} act="Remove note" onClose={onClose} onAct={act}>
      “{note.text}” disappears for everybody{!note.brand_id && ", from the charts of all brands"}.
    </Confirm>
  )
}

function AddNote({ brand, day, onClose }: { brand: Brand; day: string; onClose: () => void }) {
  const [text, setText] = useState("")
  const [url, setURL] = useState("")
  const note = { brand_id: brand.id, day, text: text.trim(), url: url.trim() || null }
  return (
    <FormDialog
      title={`Add a note to ${date(day)}`}
      act="Add note"
      can={note.text !== ""}
      onClose={onClose}
      onAct={() => write("POST", tables("annotations"), note)}
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
