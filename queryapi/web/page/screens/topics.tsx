// What the screens that give prompts their topics share.
import type { ComponentChildren } from "preact"
import { useEffect, useId, useState } from "preact/hooks"
import { root, send, tables } from "../api.ts"
import type { Brand, Topic } from "../bodies.ts"

export const maxProposals = 100 // shown at once

// Topics are the names of topics by the text of a prompt: as somebody types them, else as they are proposed.
export interface Topics {
  texts: string[]
  proposed: Map<string, string>
  typed: (text: string) => string
  name: (text: string) => string // "": none
  type: (text: string, name: string) => void
  settle: (texts: string[]) => Promise<(text: string) => string> // the names, once all are proposed
}

// proposalsFor asks which topics are proposed for texts; without an answer none is.
async function proposalsFor(brand: Brand, texts: string[]): Promise<Map<string, string>> {
  const { topics } = await send<{ topics: string[] }>("POST", `${root}/topic-proposals`, { brandId: brand.id, prompts: texts }).catch(() => ({ topics: [] }))
  return new Map(texts.map((text, i) => [text, topics[i] ?? ""]))
}

// useTopics asks which topics are proposed for at most 1,000 texts, once nobody has typed for a moment.
export function useTopics(brand: Brand, texts: string[]): Topics {
  const [proposed, propose] = useState(new Map<string, string>())
  const [changed, change] = useState(new Map<string, string>())
  const asked = JSON.stringify(texts)
  useEffect(() => {
    if (texts.length === 0) return
    let current = true
    const timer = setTimeout(() => proposalsFor(brand, texts).then((topics) => current && propose(topics)), 300)
    return () => {
      current = false
      clearTimeout(timer)
    }
  }, [brand.id, asked])
  const typed = (text: string) => changed.get(text) ?? proposed.get(text) ?? ""
  const settle = async (texts: string[]) => {
    const late = texts.every((text) => proposed.has(text)) ? proposed : await proposalsFor(brand, texts)
    return (text: string) => (changed.get(text) ?? (proposed.get(text) || late.get(text) || "")).trim()
  }
  return { texts, proposed, typed, name: (text) => typed(text).trim(), type: (text, name) => change((before) => new Map(before).set(text, name)), settle }
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
export async function setTopics(brand: Brand, prompts: { id: string; text: string }[], topics: Topics): Promise<void> {
  const name = await topics.settle(prompts.map((p) => p.text))
  const named = prompts.filter((p) => name(p.text))
  const ids = await topicIds(brand, named.map((p) => name(p.text)))
  for (const [topic, topic_id] of ids) {
    const chosen = named.filter((p) => name(p.text) === topic).map((p) => p.id)
    if (chosen.length > 0) await send("PATCH", tables("prompts", { id: `in.(${chosen.join()})` }), { topic_id })
  }
}
