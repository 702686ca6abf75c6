import type { ComponentChildren } from "preact"
import { useState } from "preact/hooks"
import { refresh, tables, useAnswer, write } from "../api.ts"
import type { Brand, Prompt, Session, Topic } from "../bodies.ts"
import { number, plural } from "../format.ts"
import { FormDialog } from "../parts/dialog.tsx"
import { Button, Field, Problem, Select, useAction } from "../parts/form.tsx"
import { Screen } from "../parts/frame.tsx"
import { Segments } from "../parts/segments.tsx"
import { Shown } from "../parts/state.tsx"
import { changes, Pages, Table } from "../parts/table.tsx"
import { Toolbar } from "../parts/toolbar.tsx"
import { go, query, token, withParameters } from "../route.ts"
import { mayEdit } from "../session.ts"
import { Performance } from "./prompt_figures.tsx"
import { promptSet } from "./running.tsx"
import { maxProposals, setTopics, TopicList, topicIds, type Topics, useTopics } from "./topics.tsx"

const shows = [
  ["", "Performance"],
  ["tracked", "Tracked prompts"],
] as const

// Prompts shows how the prompts do, or which they are; a brand that was never asked has only the second.
export function Prompts({ brand, session }: { brand: Brand; session: Session }) {
  const [adding, add] = useState(false)
  const tracked = !token && query.value.get("show") === "tracked"
  const topics = useAnswer<Topic[]>(tables("topics", { brand_id: `eq.${brand.id}`, select: "id,name", order: "name" })).data ?? []
  const editable = mayEdit(session)
  const tools = (
    <div class="line">
      {editable && (
        <Button kind="primary" onClick={() => add(true)}>
          Add prompt
        </Button>
      )}
    </div>
  )
  const list = !token && <Tracked brand={brand} topics={topics} editable={editable} />
  return (
    <Screen name="Prompts" of={brand.name} bar={<Toolbar brand={brand} timeless={tracked} />} tools={tools}>
      {!token && <Segments name="Prompts" parameter="show" options={shows} drops="offset cursor rows prompt" />}
      {tracked ? list : <Performance brand={brand}>{list}</Performance>}
      {adding && <AddPrompts brand={brand} topics={topics} onClose={() => add(false)} />}
    </Screen>
  )
}

const shown = 100 // prompts on a page

interface Counts { all: { count: number }[]; asked: { count: number }[] }

function Tracked({ brand, topics, editable }: { brand: Brand; topics: Topic[]; editable: boolean }) {
  const [editing, edit] = useState<Prompt | null>(null)
  const [proposing, propose] = useState(false)
  const { busy, failed, run } = useAction()
  const offset = query.value.get("offset") ?? undefined
  const list = { brand_id: `eq.${brand.id}`, order: "is_active.desc,created_at.desc,id" }
  const prompts = useAnswer<Prompt[]>(tables("prompts", { ...list, select: "id,text,topic_id,prompt_set_id,is_active", limit: String(shown + 1), offset }))
  const counts = useAnswer<Counts[]>(tables("brands", { id: `eq.${brand.id}`, select: "all:prompts(count),asked:prompts(count)", "asked.is_active": "is.true" })).data?.[0]
  const [all, asked] = [counts?.all[0]?.count, counts?.asked[0]?.count]
  const bare = useAnswer<Prompt[]>(editable ? tables("prompts", { brand_id: `eq.${brand.id}`, topic_id: "is.null", is_active: "is.true", select: "id,text", order: "created_at,id", limit: "1000" }) : null).data ?? []
  const proposals = useTopics(brand, bare.map((p) => p.text))
  const candidates = bare.filter((p) => proposals.proposed.get(p.text))
  const toggle = (p: Prompt) => run(() => write("PATCH", tables("prompts", { id: `eq.${p.id}` }), { is_active: !p.is_active }))
  return (
    <>
      <Problem text={failed} />
      {candidates.length > 0 && (
        <div class="line">
          <Button kind="" onClick={() => propose(true)}>
            Propose topics
          </Button>
          <span class="soft">For {plural(candidates.length, "prompt")} without one. Give prompts that ask nearly the same one topic: from five topics on (prompts without one count alone) a verdict takes them as one.</span>
        </div>
      )}
      <Shown of={prompts} height={160}>
        {(rows) => (
          <div class="stack">
            <Table<Prompt>
              name="Tracked prompts"
              title={all === undefined || asked === undefined ? undefined : `${number(asked)} of ${plural(all, "prompt")} ${asked === 1 ? "is" : "are"} asked; the newest first`}
              rows={rows.slice(0, shown)}
              empty="No prompts yet: add the questions that your customers ask."
              columns={[
                { name: "Prompt", long: true, cell: (p) => p.text },
                { name: "Topic", cell: (p) => topics.find((t) => t.id === p.topic_id)?.name ?? "" },
                { name: "State", tight: true, cell: (p) => (p.is_active ? "asked" : <span class="soft">not asked</span>) },
                ...(editable
                  ? [{
                      name: changes,
                      number: true,
                      cell: (p: Prompt) => (
                        <>
                          <Button onClick={() => edit(p)} aria-label={`Edit ${p.text}`}>
                            Edit
                          </Button>
                          <Button disabled={busy} onClick={() => toggle(p)} aria-label={`${p.is_active ? "Deactivate" : "Activate"} ${p.text}`}>
                            {p.is_active ? "Deactivate" : "Activate"}
                          </Button>
                        </>
                      ),
                    }]
                  : []),
              ]}
              csv={{ url: tables("prompts", { ...list, select: "text,...topics(topic:name),is_active,created_at" }), file: `${brand.slug}-tracked-prompts.csv` }}
            />
            <Pages parameter="offset" at={offset} next={rows.length > shown ? String(Number(offset ?? 0) + shown) : null} />
          </div>
        )}
      </Shown>
      {editing && <EditPrompt prompt={editing} topics={topics} onClose={() => edit(null)} />}
      {proposing && <ProposeTopics brand={brand} prompts={candidates.slice(0, maxProposals)} topics={proposals} existing={topics} onClose={() => propose(false)} />}
    </>
  )
}

// ProposeTopics shows the topics that are proposed for prompts without one, to be set all together or one after the other.
function ProposeTopics({ brand, prompts, topics, existing, onClose }: { brand: Brand; prompts: Prompt[]; topics: Topics; existing: Topic[]; onClose: () => void }) {
  const { busy, failed, run } = useAction()
  const set = async (chosen: Prompt[]) => {
    await setTopics(brand, chosen, topics)
    refresh()
  }
  const button = (text: string) => (
    <Button disabled={busy || !topics.name(text)} aria-label={`Set the topic of ${text}`} onClick={() => run(() => set(prompts.filter((p) => p.text === text)))}>
      Set
    </Button>
  )
  return (
    <FormDialog title="Propose topics" act="Set all" can={prompts.some((p) => topics.name(p.text))} onClose={onClose} onAct={() => set(prompts)}>
      <p class="soft">Prompts with nearly the same words get the same topic. Change a name, or empty it for no topic.</p>
      <TopicList label="Proposed topics" texts={prompts.map((p) => p.text)} topics={topics} existing={existing} beside={button} />
      <Problem text={failed} />
    </FormDialog>
  )
}

function TopicSelect({ topics, value, onInput, children }: { topics: Topic[]; value: string; onInput: (value: string) => void; children?: ComponentChildren }) {
  return (
    <Select label="Prompt's topic" value={value} onInput={onInput}>
      {children}
      <option value="">None</option>
      {topics.map((t) => (
        <option key={t.id} value={t.id}>
          {t.name}
        </option>
      ))}
    </Select>
  )
}

function EditPrompt({ prompt, topics, onClose }: { prompt: Prompt; topics: Topic[]; onClose: () => void }) {
  const [text, setText] = useState(prompt.text)
  const [topic, setTopic] = useState(prompt.topic_id ?? "")
  const save = () => write("PATCH", tables("prompts", { id: `eq.${prompt.id}` }), { text, topic_id: topic || null })
  return (
    <FormDialog title="Edit prompt" act="Save" onClose={onClose} onAct={save}>
      <Field label="Prompt" rows={3} value={text} onInput={setText} required hint="Kept answers stay those of the old text." />
      <TopicSelect topics={topics} value={topic} onInput={setTopic} />
    </FormDialog>
  )
}

const proposed = "proposed" // the choice of a topic for each prompt

function AddPrompts({ brand, topics, onClose }: { brand: Brand; topics: Topic[]; onClose: () => void }) {
  const [text, setText] = useState("")
  const [topic, setTopic] = useState(proposed)
  const [added, setAdded] = useState("")
  const lines = [...new Set(text.split("\n").map((line) => line.trim()).filter(Boolean))]
  const one = added.trim() || topics.find((t) => t.id === topic)?.name // for all
  const each = useTopics(brand, one || topic !== proposed ? [] : lines.slice(0, maxProposals))
  const add = async () => {
    const name = await each.settle(each.texts)
    const names = lines.map((line) => one ?? (each.texts.includes(line) ? name(line) : ""))
    const ids = await topicIds(brand, names)
    const prompt_set_id = await promptSet(brand)
    await write("POST", tables("prompts"), lines.map((text, i) => ({ prompt_set_id, topic_id: ids.get(names[i]!) ?? null, text })))
    go(withParameters({ show: "tracked", offset: undefined, cursor: undefined, rows: undefined, prompt: undefined }))
  }
  return (
    <FormDialog title="Add prompts" act={`Add ${lines.length > 1 ? plural(lines.length, "prompt") : "prompt"}`} can={lines.length > 0} onClose={onClose} onAct={add}>
      <Field label="Prompt" rows={5} value={text} onInput={setText} required hint="As a customer would ask it. Paste several, one a line." />
      <div class="line">
        <TopicSelect topics={topics} value={topic} onInput={setTopic}>
          <option value={proposed}>Proposed for each</option>
        </TopicSelect>
        <Field label="Or a new topic" value={added} onInput={setAdded} />
      </div>
      {each.texts.length > 0 && <TopicList label="Proposed topics" texts={each.texts} topics={each} existing={topics} />}
      {lines.length > maxProposals && each.texts.length > 0 && <p class="soft">{`Topics of the first ${maxProposals} prompts; those of the others are proposed where prompts are listed.`}</p>}
    </FormDialog>
  )
}
