// What the screens that give prompts their topics share.
import type { ComponentChildren } from "preact"
import { useEffect, useId, useState } from "preact/hooks"
import { root, send, tables } from "../api.ts"
import type { Brand, Topic } from "../bodies.ts"

export const most = 100 // prompts whose topics are proposed at once

// Topics are the names of topics by the text of a prompt: as somebody types them, else as they are proposed.
export interface Topics {
  texts: string[]
  typed: (text: string) => string
  name: (text: string) => string // "": none
  type: (text: string, name: string) => void
}

// useTopics asks which topics are proposed for texts, once nobody has typed for a moment.
export function useTopics(brand: Brand, all: string[]): Topics {
  const [proposed, propose] = useState<Record<string, string>>({})
  const [changed, change] = useState<Record<string, string>>({})
  const texts = all.slice(0, most)
  const asked = JSON.stringify(texts)
  useEffect(() => {
    if (texts.length === 0) return
    let current = true
    const ask = async () => {
      const { topics } = await send<{ topics: string[] }>("POST", `${root}/topic-proposals`, { brandId: brand.id, prompts: texts })
      if (current) propose(Object.fromEntries(texts.map((text, i) => [text, topics[i] ?? ""])))
    }
    const timer = setTimeout(() => ask().catch(() => {}), 300) // without an answer the fields are empty
    return () => {
      current = false
      clearTimeout(timer)
    }
  }, [brand.id, asked])
  const typed = (text: string) => changed[text] ?? proposed[text] ?? ""
  return { texts, typed, name: (text) => typed(text).trim(), type: (text, name) => change((before) => ({ ...before, [text]: name })) }
}

interface ListProps {
  label: string
  texts: string[]
  topics: Topics
  existing?: Topic[] // offered first
  beside?: (text: string) => ComponentChildren
}

// TopicList has a field for the topic of each prompt; an empty one means none.
export function TopicList({ label, texts, topics, existing = [], beside }: ListProps) {
  const id = useId()
  const names = new Set([...existing.map((t) => t.name), ...topics.texts.map(topics.name)].filter(Boolean))
  return (
    <>
      <datalist id={id}>
        {[...names].map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <ul class="added" aria-label={label}>
        {[...new Set(texts)].map((text) => (
          <li key={text} class="line">
            <span>{text}</span>
            {topics.texts.includes(text) && (
              <input type="search" list={id} aria-label={`Topic of ${text}`} placeholder="no topic" value={topics.typed(text)} onInput={(event) => topics.type(text, event.currentTarget.value)} />
            )}
            {beside?.(text)}
          </li>
        ))}
      </ul>
    </>
  )
}

// topicIds returns the ids of a brand's topics by name, and makes those that are missing.
export async function topicIds(brand: Brand, names: string[]): Promise<Map<string, string>> {
  const ids = new Map<string, string>()
  const read = (list: Topic[]) => list.forEach((t) => ids.set(t.name, t.id))
  read(await send<Topic[]>("GET", tables("topics", { brand_id: `eq.${brand.id}`, select: "id,name" })))
  const missing = [...new Set(names)].filter((name) => name && !ids.has(name))
  if (missing.length > 0) read(await send<Topic[]>("POST", tables("topics"), missing.map((name) => ({ brand_id: brand.id, name })), { Prefer: "return=representation" }))
  return ids
}

// setTopics gives each prompt the topic that its text has.
export async function setTopics(brand: Brand, prompts: { id: string; text: string }[], { name }: Topics): Promise<void> {
  const named = prompts.filter((p) => name(p.text))
  const ids = await topicIds(brand, named.map((p) => name(p.text)))
  for (const [topic, topic_id] of ids) {
    const chosen = named.filter((p) => name(p.text) === topic).map((p) => p.id)
    if (chosen.length > 0) await send("PATCH", tables("prompts", { id: `in.(${chosen.join()})` }), { topic_id })
  }
}
