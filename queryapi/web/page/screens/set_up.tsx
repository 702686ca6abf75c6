import type { ComponentChildren } from "preact"
import { useEffect, useRef, useState } from "preact/hooks"
import { Failure, refresh, root, send, tables, useAnswer, write } from "../api.ts"
import type { Brand, Prompt, Session } from "../bodies.ts"
import { plural } from "../format.ts"
import { Card } from "../parts/card.tsx"
import { Button, Field, Problem, useAction, useAdding } from "../parts/form.tsx"
import { Screen } from "../parts/frame.tsx"
import { Shown, Skeleton } from "../parts/state.tsx"
import { go, query, withParameters } from "../route.ts"
import { HomePage } from "./home_page.tsx"
import { type Domain, domainHint, saveBrand, saveDomain } from "./naming.ts"
import { keyOf, useProviders } from "./providers.tsx"
import { Asks, type Estimate, going, Progress, promptSet, useJob } from "./running.tsx"
import { setTopics, TopicList, useTopics } from "./topics.tsx"

const steps = ["Brand and domains", "Competitors", "Prompts", "Platforms", "Run"]

// SetUp makes the first brand. Each step writes what it was given, and the address says which step it is: after a reload it
// goes on where it was.
export function SetUp({ session, brands }: { session: Session; brands: Brand[] }) {
  const slug = query.value.get("set_up")
  const [made, make] = useState<Brand>() // until the list has it
  const brand = brands.find((b) => b.slug === slug) ?? (made?.slug === slug ? made : undefined)
  const step = slug ? Math.min(steps.length, Math.max(1, Number(query.value.get("step")) || 2)) : 1
  const part = useRef<HTMLDivElement>(null)
  const first = useRef(true)
  useEffect(() => {
    const control = part.current?.querySelector<HTMLElement>(":is(input, button):enabled") ?? document.getElementById("main")
    if (!first.current) control?.focus({ preventScroll: true, focusVisible: true } as FocusOptions) // Firefox may show no ring otherwise
    first.current = false
  }, [step])
  const next = () => go(withParameters({ step: String(step + 1) }))
  return (
    <Screen name="Set up your first brand" of={`Step ${step} of ${steps.length}`}>
      <ol class="line" aria-label="Steps">
        {steps.map((name, i) => (
          <li key={name} class={i + 1 === step ? "tag own" : "tag"} aria-current={i + 1 === step ? "step" : undefined}>
            {i + 1}. {name}
          </li>
        ))}
      </ol>
      <Card name={steps[step - 1]!}>
        <div class="inside stack narrow" key={step} ref={part}>
          {slug && !brand ? (
            <Skeleton height={120} />
          ) : step === 1 || !brand ? (
            <NameBrand session={session} brand={brand} onMade={make} />
          ) : step === 2 ? (
            <Competitors brand={brand} onNext={next} />
          ) : step === 3 ? (
            <>
              <Prompts brand={brand} onNext={next} />
              <HomePage brand={brand} />
            </>
          ) : step === 4 ? (
            <Platforms brand={brand} onNext={next} />
          ) : (
            <Run brand={brand} />
          )}
          {step > 1 && (
            <a class="soft" href={withParameters({ step: String(step - 1) })}>
              Back
            </a>
          )}
        </div>
      </Card>
    </Screen>
  )
}

interface Naming { session: Session; brand?: Brand; onMade: (brand: Brand) => void }

function NameBrand(naming: Naming) {
  const { brand } = naming
  const domains = useAnswer<Domain[]>(brand ? tables("brand_domains", { brand_id: `eq.${brand.id}`, select: "id,domain", order: "is_primary.desc,created_at", limit: "1" }) : null)
  if (brand) return <Shown of={domains}>{([domain]) => <NameForm key={domain?.domain} was={domain} {...naming} />}</Shown>
  return <NameForm {...naming} />
}

function NameForm({ session, brand, was, onMade }: Naming & { was?: Domain }) {
  const [name, setName] = useState(brand?.name ?? "")
  const [domain, setDomain] = useState(was?.domain ?? "")
  const [made, make] = useState(brand) // its domain may be refused
  const { busy, failed, submit } = useAction()
  const save = async () => {
    const saved = await saveBrand(session, made, name)
    make(saved)
    await saveDomain(saved, was, domain)
    onMade(saved)
    go(withParameters({ set_up: saved.slug, step: "2" }))
    refresh()
  }
  return (
    <form class="stack" onSubmit={submit(save)}>
      <Field label="Brand name" value={name} onInput={setName} required autoFocus hint="As people call it. Answers that have this name mention it." />
      <Field label="Domain" value={domain} onInput={setDomain} hint={domainHint} />
      <Problem text={failed} />
      <Continue busy={busy} />
    </form>
  )
}

function Continue({ busy, onClick }: { busy: boolean; onClick?: () => void }) {
  return (
    <div class="line">
      <button type={onClick ? "button" : "submit"} class="button primary" disabled={busy} onClick={onClick}>
        Continue
      </button>
    </div>
  )
}

interface AddingProps {
  label: string
  act: string
  hint: string
  list: string // the address of what there is
  column: "name" | "text"
  add: (text: string) => Promise<unknown>
  onNext: () => unknown
  missing?: string // what to do first where there is none
  children?: ComponentChildren // in place of the plain list
}

// Adding takes texts into a list, one after the other. What was typed and not added is added by Continue.
function Adding({ label, act, hint, list, column, add, onNext, missing, children }: AddingProps) {
  const { data } = useAnswer<Record<string, string>[]>(list)
  const there = data ?? []
  const { text, setText, take, onSubmit, busy, failed, run } = useAdding(add)
  const leave = () =>
    run(async () => {
      if (text.trim()) await take()
      else if (missing && there.length === 0) throw new Failure(0, missing)
      await onNext()
    })
  return (
    <>
      <form class="stack" onSubmit={onSubmit}>
        <Field label={label} value={text} onInput={setText} required hint={hint} />
        <div class="line">
          <button class="button" disabled={busy}>
            {act}
          </button>
        </div>
      </form>
      {there.length > 0 &&
        (children ?? (
          <ul class="added" aria-label="Added">
            {there.map((row) => (
              <li key={row.id}>{row[column]}</li>
            ))}
          </ul>
        ))}
      <Problem text={failed} />
      <Continue busy={busy || !data} onClick={leave} />
    </>
  )
}

function Competitors({ brand, onNext }: { brand: Brand; onNext: () => void }) {
  return (
    <Adding
      label="Competitor name"
      act="Add competitor"
      hint="Who is named in the same answers. Their aliases and domains can be added later."
      list={tables("competitors", { brand_id: `eq.${brand.id}`, select: "id,name", order: "created_at,id" })}
      column="name"
      add={(name) => write("POST", tables("competitors"), { brand_id: brand.id, name })}
      onNext={onNext}
    />
  )
}

function Prompts({ brand, onNext }: { brand: Brand; onNext: () => void }) {
  const list = tables("prompts", { brand_id: `eq.${brand.id}`, select: "id,text,topic_id", order: "created_at,id" })
  const prompts = useAnswer<Prompt[]>(list).data ?? []
  const bare = (prompts: Prompt[]) => prompts.filter((p) => !p.topic_id)
  const topics = useTopics(brand, bare(prompts).map((p) => p.text))
  return (
    <Adding
      label="Prompt"
      act="Add prompt"
      hint="A question as a customer would ask it. Five or more give figures with intervals; those that ask nearly the same share a topic."
      list={list}
      column="text"
      add={async (text) => write("POST", tables("prompts"), { prompt_set_id: await promptSet(brand), text })}
      onNext={async () => {
        await setTopics(brand, bare(await send<Prompt[]>("GET", list)), topics) // also of the prompt that Continue added
        onNext()
      }}
      missing="Add a prompt first: it is what the platforms are asked."
    >
      <TopicList label="Added" texts={prompts.map((p) => p.text)} topics={topics} />
    </Adding>
  )
}

const day = 86_400_000 // ms

function Platforms({ brand, onNext }: { brand: Brand; onNext: () => void }) {
  const providers = useProviders()
  const scheduled = useAnswer<{ platform: string }[]>(tables("brand_platforms", { brand_id: `eq.${brand.id}`, select: "platform" }))
  const there = scheduled.data?.map((s) => s.platform) ?? []
  const [changed, change] = useState<Record<string, boolean>>({})
  const isChosen = (platform: string) => changed[platform] ?? there.includes(platform)
  const { busy, failed, submit } = useAction()
  const save = async () => {
    const chosen = (providers.data?.providers ?? []).map((p) => p.platform).filter(isChosen)
    if (chosen.length === 0) throw new Failure(0, "Choose a platform first: the simulator costs nothing.")
    const left = there.filter((platform) => !chosen.includes(platform))
    if (left.length > 0) await send("DELETE", tables("brand_platforms", { brand_id: `eq.${brand.id}`, platform: `in.(${left.join(",")})` }))
    const added = chosen.filter((platform) => !there.includes(platform))
    const next_check_at = new Date(Date.now() + day).toISOString() // the first run is the next step's
    if (added.length > 0) await write("POST", tables("brand_platforms"), added.map((platform) => ({ brand_id: brand.id, platform, check_frequency: "daily", next_check_at })))
    onNext()
  }
  return (
    <Shown of={providers}>
      {({ providers }) => (
        <form class="stack" onSubmit={submit(save)}>
          <fieldset class="plain stack">
            <legend>Asked daily</legend>
            {providers.map((p) => (
              <div key={p.platform} class="line">
                <label class="check">
                  <input type="checkbox" checked={isChosen(p.platform)} disabled={!p.available} onInput={(event) => change({ ...changed, [p.platform]: event.currentTarget.checked })} />
                  <span>{p.platform}</span>
                </label>
                <span class="soft small">key: {keyOf(p)}</span>
              </div>
            ))}
          </fieldset>
          <p class="soft small">
            The simulator needs no key, and its answers are made up. An owner sets keys under <a href="/settings?tab=providers">Organization, Providers</a>.
          </p>
          <Problem text={failed} />
          <Continue busy={busy || !scheduled.data} />
        </form>
      )}
    </Shown>
  )
}

// Run starts the first job, or follows the one that runs, and ends on its figures.
function Run({ brand }: { brand: Brand }) {
  const [estimate, setEstimate] = useState<Estimate | null>(null)
  const [started, setStarted] = useState<string | null>(null)
  const jobs = useAnswer<{ id: string; status: string }[]>(tables("tracking_jobs", { brand_id: `eq.${brand.id}`, select: "id,status", order: "created_at.desc", limit: "1" }))
  const last = jobs.data?.find((j) => going(j.status))?.id ?? null
  const id = started ?? last
  const { busy, failed, run } = useAction()
  const { job, failed: lost } = useJob(id, (ended) => {
    if (ended.status === "failed") {
      setStarted(null)
      return refresh()
    }
    go(`/brands/${encodeURIComponent(brand.slug)}`)
    refresh()
  })
  const estimating = useAction()
  useEffect(() => void estimating.run(async () => setEstimate(await send<Estimate>("POST", `${root}/tracking/estimate`, { brandId: brand.id }))), [brand.id])
  const start = () => run(async () => setStarted((await send<{ jobId: string }>("POST", `${root}/tracking/start`, { brandId: brand.id, platforms: [], models: [] })).jobId))
  return (
    <>
      {id ? <Progress job={job} /> : estimate && <Asks estimate={estimate} />}
      {!id && estimate && estimate.runs > 0 && <p class="soft">{plural(estimate.runs, "question")} usually take about a minute. Then you see the first figures.</p>}
      <Problem text={failed || estimating.failed || lost || (!id && job?.failedReason) || ""} />
      {!id && (
        <div class="line">
          <Button kind="primary" disabled={busy || estimate?.runs === 0} onClick={start}>
            Run now
          </Button>
        </div>
      )}
    </>
  )
}
