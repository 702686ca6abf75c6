import { useEffect, useState } from "preact/hooks"
import { messageOf, refresh, root, send, tables, useAnswer, version, write } from "../api.ts"
import type { Brand, Session } from "../bodies.ts"
import { money, number, time } from "../format.ts"
import { Card } from "../parts/card.tsx"
import { Button, Choice, Problem, Select, useAction } from "../parts/form.tsx"
import { Screen } from "../parts/frame.tsx"
import { Notice, Shown } from "../parts/state.tsx"
import { changes, Table } from "../parts/table.tsx"
import { Toolbar } from "../parts/toolbar.tsx"
import { mayEdit } from "../session.ts"
import { keyOf, useProviders } from "./providers.tsx"
import { SamplingPlan } from "./plan.tsx"
import { Asks, type Estimate, going, PlatformProgress, Progress, useJob } from "./running.tsx"
import { RunsPerDay, Spending, useSpending } from "./spending.tsx"

interface JobRow {
  id: string
  status: string
  completed: number
  total: number
  cost: number
  currency: string
  failed_reason: string | null
  result: { gaveUp?: Record<string, number> } | null
  created_at: string
}
interface Schedule { id: string; platform: string; model: string | null; check_frequency: string; is_enabled: boolean; next_check_at: string | null; last_checked_at: string | null }

const frequencies = ["hourly", "daily", "weekly", "monthly", "manual"]
export function Tracking({ brand, session }: { brand: Brand; session: Session }) {
  const jobs = useAnswer<JobRow[]>(tables("tracking_jobs", { brand_id: `eq.${brand.id}`, select: "id,status,completed,total,cost,currency,failed_reason,result,created_at", order: "created_at.desc", limit: "50" }))
  const spending = useSpending(brand)
  const running = jobs.data?.find((j) => going(j.status))
  return (
    <Screen name="Tracking" of={brand.name} bar={<Toolbar brand={brand} timeless />}>
      {running ? <Running key={running.id} id={running.id} editable={mayEdit(session)} /> : <RunNow brand={brand} editable={mayEdit(session)} />}
      <Spending spending={spending} />
      <RunsPerDay brand={brand} />
      <Schedules brand={brand} editable={mayEdit(session)} ahead={spending.data?.forecast.days} />
      <SamplingPlan brand={brand} />
      <Shown of={jobs} height={120}>
        {(list) => <Jobs brand={brand} jobs={list} />}
      </Shown>
    </Screen>
  )
}

function RunNow({ brand, editable }: { brand: Brand; editable: boolean }) {
  const [estimate, setEstimate] = useState<Estimate | null>(null)
  const [refused, refuse] = useState("")
  const { busy, failed, run } = useAction()
  const changes = version.value
  useEffect(() => {
    refuse("")
    send<Estimate>("POST", `${root}/tracking/estimate`, { brandId: brand.id }).then(setEstimate, (error: unknown) => refuse(messageOf(error)))
  }, [brand.id, changes])
  const start = () => run(async () => void (await write("POST", `${root}/tracking/start`, { brandId: brand.id, platforms: [], models: [] })))
  return (
    <Card
      name="One more run"
      title="Asks every active prompt once more, beside the schedule"
      tools={
        editable && (
          <Button kind="primary" disabled={busy || !estimate?.runs} onClick={start}>
            Run now
          </Button>
        )
      }
    >
      <div class="inside stack">
        {refused ? (
          <Notice kind="plain">{refused}</Notice>
        ) : !estimate ? (
          <p class="skeleton" role="status" style={{ height: "20px" }}>
            <span class="hidden">Loading</span>
          </p>
        ) : (
          <>
            {estimate.runs === 0 && <p class="soft">Nothing to ask: no platform is scheduled below or has a key, or no prompt is active.</p>}
            <Asks estimate={estimate} />
          </>
        )}
        <Problem text={failed} />
      </div>
    </Card>
  )
}

function Running({ id, editable }: { id: string; editable: boolean }) {
  const { job, failed } = useJob(id, refresh)
  const action = useAction()
  return (
    <Card
      name="A job runs"
      tools={
        editable && (
          <Button kind="" disabled={action.busy} onClick={() => action.run(() => send("DELETE", `${root}/tracking/job/${id}`))}>
            Cancel job
          </Button>
        )
      }
    >
      <div class="inside stack">
        <Progress job={job} />
        <PlatformProgress id={id} job={job} />
        <Problem text={failed || action.failed} />
      </div>
    </Card>
  )
}

function Jobs({ brand, jobs }: { brand: Brand; jobs: JobRow[] }) {
  const failures = (j: JobRow) => Object.entries(j.result?.gaveUp ?? {}).map(([kind, n]) => `${kind} ${number(n)}`).join(", ")
  return (
    <Table<JobRow>
      name="Jobs"
      title="The newest 50, with what they cost, and why runs were given up"
      rows={jobs}
      empty="None yet."
      columns={[
        { name: "Started", tight: true, cell: (j) => time(j.created_at) },
        { name: "State", cell: (j) => <span class={j.status === "completed" ? "tag own" : j.status === "failed" ? "tag warn" : "tag"}>{j.status}</span> },
        { name: "Runs", number: true, cell: (j) => <>{number(j.completed)} <span class="with-n">of {number(j.total)}</span></> },
        { name: "Cost", number: true, cell: (j) => <span title={`${number(j.cost)} ${j.currency}`}>{money(j.cost, j.currency)}</span> },
        { name: "Given up", long: true, cell: (j) => j.failed_reason ?? failures(j) },
      ]}
      csv={{ url: tables("tracking_jobs", { brand_id: `eq.${brand.id}`, select: "created_at,status,completed,total,cost,currency,failed_reason,result", order: "created_at.desc" }), file: `${brand.slug}-jobs.csv` }}
    />
  )
}

// byDefault says where a brand without platforms is asked, by its forecast.
function byDefault(ahead: { platform: string }[] | undefined): string {
  const platforms = [...new Set(ahead?.map((d) => d.platform))]
  if (!ahead) return "No platform is chosen."
  return platforms.length > 0
    ? `No platform is chosen, so prompts are asked daily on the default ones: ${platforms.join(", ")}. A platform that is added takes their place, and a manual one asks nothing by itself.`
    : "Nothing is scheduled: no default platform has a key, or no prompt is active. Prompts are asked by Run now alone."
}

function Schedules({ brand, editable, ahead }: { brand: Brand; editable: boolean; ahead: { platform: string }[] | undefined }) {
  const rows = useAnswer<Schedule[]>(tables("brand_platforms", { brand_id: `eq.${brand.id}`, select: "id,platform,model,check_frequency,is_enabled,next_check_at,last_checked_at", order: "platform,model" }))
  const { busy, failed, run } = useAction()
  const at = (row: Schedule) => tables("brand_platforms", { id: `eq.${row.id}` })
  const buttons = (r: Schedule) => (
    <>
      <Button disabled={busy} onClick={() => run(() => write("PATCH", at(r), { is_enabled: !r.is_enabled }))} aria-label={`${r.is_enabled ? "Pause" : "Resume"} ${r.platform}`}>
        {r.is_enabled ? "Pause" : "Resume"}
      </Button>
      <Button disabled={busy} onClick={() => run(() => write("DELETE", at(r)))} aria-label={`Remove ${r.platform}`}>
        Remove
      </Button>
    </>
  )
  return (
    <Shown of={rows} height={210}>
      {(list) => (
        <Table<Schedule>
          name="Schedule"
          title="On which platforms the prompts are asked automatically, and how often"
          rows={list}
          empty={byDefault(ahead)}
          columns={[
            { name: "Platform", cell: (r) => r.platform },
            { name: "Model", cell: (r) => r.model ?? "default" },
            { name: "How often", cell: (r) => (editable ? <Choice name={`How often ${r.platform}`} value={r.check_frequency} among={frequencies} busy={busy} onInput={(check_frequency) => run(() => write("PATCH", at(r), { check_frequency }))} /> : r.check_frequency) },
            { name: "State", cell: (r) => (r.is_enabled ? "on" : "paused") },
            { name: "Last", tight: true, cell: (r) => time(r.last_checked_at) },
            { name: "Next", tight: true, cell: (r) => (!r.is_enabled || r.check_frequency === "manual" ? "–" : r.next_check_at ? time(r.next_check_at) : "soon") },
            ...(editable ? [{ name: changes, number: true, cell: buttons }] : []),
          ]}
          csv={{ url: tables("brand_platforms", { brand_id: `eq.${brand.id}`, select: "platform,model,check_frequency,is_enabled,last_checked_at,next_check_at", order: "platform,model" }), file: `${brand.slug}-schedule.csv` }}
          foot={
            editable && (
              <div class="inside stack">
                <AddPlatform brand={brand} />
                <Problem text={failed} />
              </div>
            )
          }
        />
      )}
    </Shown>
  )
}

function AddPlatform({ brand }: { brand: Brand }) {
  const providers = useProviders()
  const [slug, setSlug] = useState("")
  const [model, setModel] = useState("")
  const [frequency, setFrequency] = useState("daily")
  const { busy, failed, submit } = useAction()
  const list = [...(providers.data?.providers ?? [])].sort((a, b) => Number(b.available) - Number(a.available))
  const platform = list.find((p) => p.platform === slug) ?? list[0]
  const add = () => write("POST", tables("brand_platforms"), { brand_id: brand.id, platform: platform?.platform, model: model || null, check_frequency: frequency })
  if (providers.failure) return <Problem text={providers.failure.message} />
  return (
    <form class="stack" onSubmit={submit(add)}>
      <div class="line bottom">
        <Select
          label="Platform to ask"
          value={platform?.platform ?? ""}
          onInput={(next) => {
            setSlug(next)
            setModel("")
          }}
        >
          {list.map((p) => (
            <option key={p.platform} value={p.platform} disabled={!p.available}>
              {p.available ? p.platform + (p.price ? `: ${keyOf(p)}` : "") : `${p.platform} (its key is missing)`}
            </option>
          ))}
        </Select>
        <Select label="Its model" value={model} onInput={setModel}>
          <option value="">default</option>
          {platform?.models.map((m) => (
            <option key={m.model}>{m.model}</option>
          ))}
        </Select>
        <Select label="Frequency" value={frequency} onInput={setFrequency}>
          {frequencies.map((f) => (
            <option key={f}>{f}</option>
          ))}
        </Select>
        <button class="button" disabled={busy || !platform?.available}>
          Add platform
        </button>
      </div>
      <Problem text={failed} />
    </form>
  )
}
