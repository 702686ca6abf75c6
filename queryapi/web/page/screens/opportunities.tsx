import { useEffect, useRef, useState } from "preact/hooks"
import { metrics, send, tables, useAnswer, write } from "../api.ts"
import type { Brand, Filters, Interval, Session, Suggestion, Suggestions, Summary } from "../bodies.ts"
import { date, inColumn, number, plural, time } from "../format.ts"
import { FormDialog } from "../parts/dialog.tsx"
import { bounds } from "../parts/figure.tsx"
import { screen } from "../parts/filters.tsx"
import { Button, Field, Problem, useAction } from "../parts/form.tsx"
import { Screen } from "../parts/frame.tsx"
import { Outside } from "../parts/link.tsx"
import { Segments } from "../parts/segments.tsx"
import { Notice, Shown } from "../parts/state.tsx"
import { Strip } from "../parts/strip.tsx"
import { changes, Table } from "../parts/table.tsx"
import { Toolbar } from "../parts/toolbar.tsx"
import { addressOf, go, query, withParameters } from "../route.ts"
import { mayEdit } from "../session.ts"
import { Briefs } from "./briefs.tsx"

// A Tab has the kinds of suggestions that stand together. worth says what their score is; tried, what was tried.
interface Tab { kinds: string[]; name: string; worth: (score: number) => string; tried: string; title: string }

const ofAnswers = (score: number) => `${number(score)}% of answers`
const points = (score: number) => `at most ${inColumn(score, "points")}`
const tabs: Tab[] = [
  { kinds: ["gap"], name: "Prompts you lose", worth: points, tried: "prompt", title: "A competitor is surely named more often than you" },
  { kinds: ["source"], name: "Sources", worth: points, tried: "domain", title: "Answers that cite these sites name a competitor surely more often than you: whom to write to" },
  { kinds: ["competitor", "alias"], name: "Unknown names", worth: ofAnswers, tried: "name", title: "Named beside the brands that you track, and not tracked" },
  { kinds: ["prompt", "topic"], name: "Searches", worth: (score) => `${number(score)}% of searching answers`, tried: "search", title: "What platforms search for, and no prompt asks" },
  { kinds: ["page"], name: "Own pages", worth: (score) => `${number(score)} expected`, tried: "page", title: "Your pages that are crawled and never cited, or cited and never visited" },
  { kinds: ["theme"], name: "Criticism", worth: ofAnswers, tried: "word", title: "What several answers say against you" },
]
const statuses = [["new", "New"], ["added", "Added"], ["dismissed", "Dismissed"]] as const
const states = { new: "new", added: "added,closed", dismissed: "dismissed" }
const sorts = [["", "Best first"], ["created_at", "Newest first"]] as const

interface Props { brand: Brand; session: Session }

// Opportunities shows what the brand may do next, each with its evidence.
export function Opportunities({ brand, session }: Props) {
  const kind = query.value.get("kind")
  const tab = tabs.find((t) => t.kinds[0] === kind) ?? tabs[0]!
  const [status] = statuses.find(([name]) => name === query.value.get("status")) ?? statuses[0]
  const url = metrics("suggestions", { brand_id: brand.id, kind: tab.kinds.join(), status: states[status], limit: "200" })
  const list = useAnswer<Suggestions>(url)
  const count = (kinds: string[]) => list.data?.totals.reduce((sum, t) => sum + (kinds.includes(t.kind) ? t[status] + (status === "added" ? t.closed : 0) : 0), 0)
  const names = tabs.map((t, i) => [i === 0 ? "" : t.kinds[0]!, list.data ? `${t.name} ${number(count(t.kinds))}` : t.name] as const)
  return (
    <Screen name="Opportunities" of={brand.name} bar={<Toolbar brand={brand} timeless />}>
      <Segments name="Kind" parameter="kind" options={[...names, ["brief", "Briefs"]]} drops="topic brief" />
      {kind === "brief" ? (
        <Briefs brand={brand} session={session} />
      ) : (
        <>
          <div class="line">
            <Segments name="Status" parameter="status" options={statuses.map(([value, name], i) => [i === 0 ? "" : value, name])} drops="topic" />
            <Segments name="Order" parameter="sort_by" options={sorts} />
          </div>
          <Shown of={list} height={320}>
            {(body) => <List key={tab.name + status} brand={brand} session={session} tab={tab} status={status} body={body} url={url} />}
          </Shown>
        </>
      )}
    </Screen>
  )
}

// A Row is a suggestion, or several about the prompts of a topic.
interface Row { list: Suggestion[]; topic?: string; open?: boolean }

// rowsOf joins gaps of a topic where there are several; those of a topic that is open follow it.
function rowsOf(list: Suggestion[], open: string | null): Row[] {
  const topics = new Map<string, Suggestion[]>()
  for (const s of list) topics.set(s.evidence.topic || s.id, [...(topics.get(s.evidence.topic || s.id) ?? []), s])
  return [...topics].flatMap(([topic, members]) => {
    const rows = members.map((s) => ({ list: [s] }))
    if (members.length === 1) return rows
    return [{ list: members, topic, open: open === topic }, ...(open === topic ? rows : [])]
  })
}

interface Done { text: string; undo: () => Promise<unknown> }
type Change = (suggestions: Suggestion[], changes: Partial<Record<"status" | "added_prompt_id", string>>) => Promise<unknown>

const change: Change = (suggestions, changes) => write("PATCH", tables("suggestions", { id: `in.(${suggestions.map((s) => s.id)})` }), changes)

interface ListProps extends Props { tab: Tab; status: keyof typeof states; body: Suggestions; url: string }

function List({ brand, session, tab, status, body, url }: ListProps) {
  const [done, finish] = useState<Done>()
  const [adding, add] = useState<Adding>()
  const { busy, failed, run } = useAction()
  const editable = mayEdit(session)
  const dismiss = (text: string, list: Suggestion[], restore?: () => Promise<unknown>) =>
    change(list, { status: "dismissed" }).then(() => finish({ text, undo: async () => (await restore?.(), await change(list, { status: "new" })) }))
  const stop = async (list: Suggestion[], prompt: string) => {
    const activate = (before: boolean) =>
      send<{ id: string }[]>("PATCH", tables("prompts", { id: `eq.${prompt}`, is_active: `eq.${before}`, select: "id" }), { is_active: !before }, { Prefer: "return=representation" })
    const stopped = await activate(true) // one that was not active before is left as it was, also when this is undone
    await dismiss("Dismissed, and its prompt is not asked any more.", list, () => (stopped.length ? activate(false) : Promise.resolve()))
  }
  const makeBrief = async (s: Suggestion) => {
    const brief = await send<{ id: string }>("POST", tables("rpc/create_content_brief", { select: "id" }), { p_suggestion_id: s.id })
    go(withParameters({ kind: "brief", brief: brief.id, status: undefined, sort_by: undefined, topic: undefined }))
  }
  const buttons = ({ list, topic }: Row) => {
    const s = list[0]!
    const { prompt_id, quotes } = s.evidence
    const button = (text: string, onClick: () => unknown, kind?: string) => (
      <Button kind={kind} disabled={busy} onClick={onClick}>
        {text}
      </Button>
    )
    if (status !== "new") return button("Back to new", () => run(() => change(list, { status: "new" })))
    if (topic) return button("Dismiss all of this topic", () => run(() => dismiss(`${plural(list.length, "prompt")} of ${topic} dismissed.`, list)))
    const names = tab.kinds.includes("alias")
    return (
      <>
        {names && s.kind !== "alias" && button("Add competitor", () => add({ what: "Competitor name", act: "Add competitor", suggestion: s }), "tight")}
        {names && button("Add alias", () => add({ what: "Alias", act: "Add alias", suggestion: s }))}
        {s.key.startsWith("domain:") && button("Add domain", () => add({ what: "Domain", act: "Add domain", suggestion: s }), "tight")}
        {s.kind === "prompt" && button("Add prompt", () => add({ what: "Prompt", act: "Add prompt", suggestion: s }), "tight")}
        {!names && (s.answers_url || quotes) && button("Make brief", () => run(() => makeBrief(s)), s.kind === "prompt" ? undefined : "tight")}
        {s.kind === "gap" && prompt_id && button("We do not sell this", () => run(() => stop(list, prompt_id)))}
        {button("Dismiss", () => run(() => dismiss("Dismissed.", list)))}
      </>
    )
  }
  const open = query.value.get("topic")
  const newest = query.value.get("sort_by") === "created_at"
  const list = body.suggestions.map((s) => (s.key ? s : { ...s, evidence: {} })) // a person may have written any evidence
  return (
    <div class="stack">
      <Computed brand={brand} tab={tab} body={body} />
      {body.suggestions.length > 0 && <Reasons tab={tab} body={body} />}
      <Problem text={failed} />
      {done && <Undo {...done} key={done.text + done.undo} onEnd={() => finish(undefined)} />}
      <div class="advice">
      <Table<Row>
        name={tab.name}
        title={tab.title}
        rows={rowsOf(newest ? list.toSorted((a, b) => b.created_at.localeCompare(a.created_at)) : list, open)}
        empty={<Nothing brand={brand} tab={tab} status={status} body={body} />}
        columns={[
          { name: "Suggestion", long: true, cell: ({ list, topic }) => topic ?? list[0]!.text },
          {
            name: "Evidence",
            cell: ({ list, topic, open }) =>
              topic ? (
                <a href={withParameters({ topic: open ? undefined : topic })} aria-expanded={open}>
                  {open ? "Hide" : "Show"} {plural(list.length, "prompt")}
                </a>
              ) : (
                <Shows brand={brand} suggestion={list[0]!} />
              ),
          },
          {
            name: "Worth",
            tight: true,
            cell: ({ list, topic }) => (
              <>
                {list[0]!.score !== null && tab.worth(Math.max(...list.map((s) => s.score ?? 0)))}
                {topic ? " each" : <Behind brand={brand} suggestion={list[0]!} />}
              </>
            ),
          },
          ...(editable ? [{ name: changes, cell: (row: Row) => <div class="line">{buttons(row)}</div> }] : []),
        ]}
        csv={{ url: `${url}&table=suggestions`, file: `${brand.slug}-${tab.kinds[0]}s.csv` }}
      />
      </div>
      {adding && <Add {...adding} brand={brand} onClose={() => add(undefined)} />}
    </div>
  )
}

const undoTimeout = 10_000 // ms in which what was done can be undone here; its tab undoes it later

function Undo({ text, undo, onEnd }: Done & { onEnd: () => void }) {
  const button = useRef<HTMLDivElement>(null)
  const { busy, failed, run } = useAction()
  useEffect(() => {
    button.current?.querySelector("button")?.focus() // the one that had it is gone
    const timer = setTimeout(onEnd, undoTimeout)
    return () => clearTimeout(timer)
  }, [])
  return (
    <div class="notice plain" role="status" ref={button}>
      <span>{failed || text}</span>
      <Button kind="tight" disabled={busy} onClick={() => run(() => undo().then(onEnd))}>
        Undo
      </Button>
    </div>
  )
}

interface Adding { what: string; act: string; suggestion: Suggestion }

// Add makes a competitor, an alias or a prompt of a suggestion, under a name that can be changed.
function Add({ brand, what, act, suggestion, onClose }: Adding & { brand: Brand; onClose: () => void }) {
  const [text, setText] = useState(suggestion.evidence.name ?? suggestion.evidence.query ?? suggestion.text)
  const save = async () => {
    let added_prompt_id: string | undefined
    if (what === "Prompt") {
      const prompt_set_id = await (await import("../look.ts")).promptSet(brand)
      const [prompt] = await send<{ id: string }[]>("POST", tables("prompts"), { prompt_set_id, text }, { Prefer: "return=representation" })
      added_prompt_id = prompt!.id
    } else if (what === "Alias") {
      const own = tables("brands", { id: `eq.${brand.id}`, select: "aliases" })
      const [row] = await send<{ aliases: string[] }[]>("GET", own)
      await send("PATCH", own, { aliases: [...new Set([...row!.aliases, text])] })
    } else if (what === "Domain") await send("POST", tables("brand_domains"), { brand_id: brand.id, domain: text })
    else await send("POST", tables("competitors"), { brand_id: brand.id, name: text })
    await change([suggestion], { status: "added", added_prompt_id })
  }
  return (
    <FormDialog title={act} act={act} can={text.trim() !== ""} onClose={onClose} onAct={save}>
      <Field label={what} value={text} onInput={setText} required hint={what === "Prompt" ? "As a customer would ask it." : "Kept answers are read again with it, so it has its history."} />
    </FormDialog>
  )
}

// Computed says when the rules were applied, to what, and how much of it chance would give.
function Computed({ brand, tab, body: { computed_at, window, totals } }: { brand: Brand; tab: Tab; body: Suggestions }) {
  const { date_from, date_to } = window ?? {}
  const parameters = { brand_id: brand.id, date_from, date_to }
  const degraded = useAnswer<Summary>(window && metrics("visibility-summary", parameters)).data?.degraded_platforms ?? []
  const simulated = useAnswer<Filters>(window && metrics("filters", parameters)).data?.simulated
  if (!computed_at || !window) return null
  const total = totals.find((t) => t.kind === tab.kinds[0])
  const words = [
    `Computed ${time(computed_at)} over ${date(window.date_from)} – ${date(window.date_to)}.`,
    total && total.tried > 0 && `Tried: ${plural(total.tried, tab.tried, tab.tried + (tab.tried === "search" ? "es" : "s"))}.`,
    total && total.expected > 0 && `By chance alone ${number(total.expected)} of these would be here.`,
    total && total.of > total.shown && `The first ${number(total.shown)} of ${number(total.of)}.`,
  ]
  return (
    <>
      <p class="soft">
        {words.filter(Boolean).join(" ")} {simulated && <span class="tag warn">simulated data</span>}
      </p>
      {degraded.length > 0 && <Notice>{`${degraded.join(", ")} gave up over a fifth of its runs, so fewer of its answers are counted here.`}</Notice>}
    </>
  )
}

const reasons: Record<string, (have: string, need: string) => string> = {
  no_competitors: () => "No competitor is tracked, so nothing is lost to one: add them in Settings.",
  too_few_answers: (have, need) => `${have} answers a prompt; from ${need} on a gap can be told from chance.`,
  too_few_citing_prompts: (have, need) => `No site is cited for more than ${have} prompts; from ${need} on one can be judged.`,
  too_few_prompts: (have, need) => `${have} prompts; from ${need} on the list can be taken for complete.`,
  no_searches: () => "No platform said what it searched for.",
  too_few_searching_answers: (have, need) => have === "0" ? "A prompt asks each of the searches." : `No search that a prompt lacks was issued for more than ${have} answers; from ${need} on it counts.`,
  no_crawls_or_visits: () => "No crawler and no visit was counted on your pages: set up the pixel and import logs.",
  not_english: (have, need) => `Only English texts are read: ${have} of ${need} answers.`,
  rare_phrases_forgotten: () => "There were too many names to count the rarest.",
  searches_omitted: (have, need) => `There were too many searches to compare all: ${have} of ${need} were.`,
  too_long: (have, need) => `${have} of ${need} are here: the others have a longer text than a row takes.`,
}

// Reasons say why a list is empty, or may lack something.
function Reasons({ tab, body }: { tab: Tab; body: Suggestions }) {
  const list = body.reasons.filter((r) => tab.kinds.includes(r.kind))
  return (
    <>
      {list.map(({ reason, have, need }) => (
        <p key={reason}>{reasons[reason]?.(number(have), number(need)) ?? `${reason.replaceAll("_", " ")}: ${number(have)} of ${number(need)}.`}</p>
      ))}
    </>
  )
}

// Nothing says why a list is empty, and what would fill it.
function Nothing({ brand, tab, status, body }: { brand: Brand; tab: Tab; status: keyof typeof states; body: Suggestions }) {
  if (status !== "new") return <>None {status}.</>
  return (
    <>
      <p>{body.computed_at ? "Nothing sure yet." : "Not computed yet: it follows some minutes after answers."}</p>
      <Reasons tab={tab} body={body} />
      <a class="button" href={screen(brand, "tracking")}>
        Run now, or ask more samples
      </a>
    </>
  )
}

// Shows is the evidence: who is named how often, in which pages, with which words.
function Shows({ brand, suggestion: s }: { brand: Brand; suggestion: Suggestion }) {
  const { answers = 0, brand_answers = 0, brand_interval, rival, rival_answers = 0, rival_interval, pages = [], quotes = [] } = s.evidence
  const named = (name: string, rate: number | null, n: number, range: Interval = null, slot: number) => (
    <div title={`95 % interval: ${bounds(range, "%")}`}>
      <span class="rate">
        <Strip rate={rate} range={range} slot={slot} /> {name}
        <span>
          {number(n)} of {number(answers)} <span class="hidden">({bounds(range, "%")})</span>
        </span>
      </span>
    </div>
  )
  return (
    <>
      {s.status === "closed" && <span class="tag">closed: it no longer holds</span>}
      {rival && named(rival.name, s.rival_rate_pct, rival_answers, rival_interval, 9)}
      {rival && named(brand.name, s.brand_rate_pct, brand_answers, brand_interval, 0)}
      {quotes.map((q) => (
        <p key={q.answer_id + q.text} class="small">
          “{q.text}” <a href={screen(brand, `answers/${q.answer_id}`)}>Answer</a>
        </p>
      ))}
      {pages.length > 0 && (
        <details class="about">
          <summary>{plural(pages.length, "page")}</summary>
          <ul>
            {pages.map((p) => (
              <li key={p.url} class="small">
                <Outside url={p.url} text={p.title} /> <span class="tag">{p.page_kind}</span> {plural(p.answers, "answer")}
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  )
}

// Behind leads to the answers that a suggestion counts, in its window and with no filter of the address.
function Behind({ brand, suggestion: { answers_url, evidence } }: { brand: Brand; suggestion: Suggestion }) {
  if (!answers_url) return null
  const { brand_id: _, ...parameters } = Object.fromEntries(new URL(answers_url, location.href).searchParams)
  return (
    <div>
      <a href={addressOf(`/brands/${encodeURIComponent(brand.slug)}/answers`, parameters)}>{plural(evidence.listed_answers ?? evidence.answers ?? 0, "answer")}</a>
    </div>
  )
}
