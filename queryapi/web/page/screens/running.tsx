// What the screens that run prompts share.
import { useEffect, useState } from "preact/hooks"
import { Failure, messageOf, root, send, tables } from "../api.ts"
import type { Brand, JobPlatforms } from "../bodies.ts"
import { money as inMoney, number, plural } from "../format.ts"
import { Notice } from "../parts/state.tsx"

interface Money { amount: number; currency: string }
export interface Estimate { runs: number; cost: Money | null; byPlatform: { platform: string; model: string; runs: number; cost: Money | null }[]; refused: { platform: string; reason: string }[] }
export interface Job { status: string; progress: { phase: string; completed: number; total: number }; failedReason: string | null }
export const going = (status: string) => status === "waiting" || status === "active"

const money = (cost: Money) => inMoney(cost.amount, cost.currency)

// useJob follows a job until it has finished, also where an answer fails to come, and calls then.
export function useJob(id: string | null, then: (ended: Job) => void): { job: Job | null; failed: string } {
  const [job, set] = useState<Job | null>(null)
  const [failed, fail] = useState("")
  useEffect(() => {
    if (!id) return
    let current = true
    const follow = async () => {
      for (let wait = 0; current; wait = 25) {
        const next = await send<Job>("GET", `${root}/tracking/job/${id}?wait=${wait}`)
        if (!current) return
        fail("")
        set(next)
        if (!going(next.status)) return then(next)
      }
    }
    const start = () =>
      follow().catch((error: unknown) => {
        if (!current) return
        const passes = error instanceof Failure && error.passes
        fail(messageOf(error) + (passes ? " This page asks again by itself." : ""))
        if (passes) setTimeout(start, 3000)
      })
    void start()
    return () => void (current = false)
  }, [id])
  return { job, failed }
}

export function Progress({ job }: { job: Job | null }) {
  const { completed, total, phase } = job?.progress ?? { completed: 0, total: 0, phase: "queued" }
  return (
    <div class="stack">
      <progress aria-label="Tracking progress" value={completed} max={total || 1} />
      <p role="status">
        {phase === "landing" ? "All runs have ended; their answers are on the way to the figures." : `${number(completed)} of ${plural(total, "run")}, ${phase}`}
      </p>
    </div>
  )
}

// PlatformProgress is how far a job is on each platform, and how long the rest takes. It is asked for again with each step
// of the job; where that fails, the progress above it says why.
export function PlatformProgress({ id, job }: { id: string; job: Job | null }) {
  const [progress, set] = useState<JobPlatforms | null>(null)
  useEffect(() => {
    let current = true
    send<JobPlatforms>("GET", `${root}/tracking/job/${id}/platforms`).then(
      (next) => current && set(next),
      () => {},
    )
    return () => void (current = false)
  }, [id, job])
  if (!progress) return null
  const { platforms, rate_per_minute: rate, minutes_left: left } = progress
  return (
    <>
      {rate !== null && left !== null && (
        <p class="soft">
          {plural(rate, "run")} a minute{left > 0 && `, about ${plural(left, "minute")} to go`}
        </p>
      )}
      <table aria-label="Progress by platform">
        <thead>
          <tr>
            <th scope="col">Platform</th>
            <th scope="col" class="long" />
            <th scope="col" class="number">Answered</th>
            <th scope="col" class="number">Given up</th>
            <th scope="col" class="number">Waiting</th>
          </tr>
        </thead>
        <tbody>
          {platforms.map((p) => (
            <tr key={p.platform}>
              <th scope="row">{p.platform}</th>
              <td class="long">
                <span class="parts-bar" aria-hidden="true">
                  <i style={{ flexGrow: p.answered }} />
                  <i class="bad" style={{ flexGrow: p.given_up }} />
                  <i class="rest" style={{ flexGrow: p.waiting }} />
                </span>
              </td>
              <td class="number">
                {number(p.answered)}
                {p.not_shown > 0 && `, ${number(p.not_shown)} of them not shown`}
              </td>
              <td class="number">{number(p.given_up)}</td>
              <td class="number">{number(p.waiting)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  )
}

// Asks says what a start would ask, and what is left out and why.
export function Asks({ estimate }: { estimate: Estimate }) {
  const { runs, cost, byPlatform, refused } = estimate
  const on = byPlatform.map((p) => `${p.platform} (${[p.model || "its default model", byPlatform.length > 1 && plural(p.runs, "run")].filter(Boolean).join(", ")})`)
  return (
    <>
      {runs > 0 && (
        <p>
          {plural(runs, "run")} on {on.join(", ")}
          {cost && cost.amount > 0 ? `, about ${money(cost)}.` : "."}
        </p>
      )}
      <Refused title="Left out:" platforms={refused} />
    </>
  )
}

// Refused says which platforms are not asked, and why.
export function Refused({ title, platforms }: { title: string; platforms: Estimate["refused"] }) {
  if (platforms.length === 0) return null
  return <Notice>{[title, ...platforms.map((r) => `${r.platform}: ${r.reason}.`)].join(" ")}</Notice>
}

// promptSet is the brand's first set of prompts, made when it has none.
export async function promptSet(brand: Brand): Promise<string> {
  const [first] = await send<{ id: string }[]>("GET", tables("prompt_sets", { brand_id: `eq.${brand.id}`, select: "id", order: "created_at,id", limit: "1" }))
  if (first) return first.id
  const [made] = await send<{ id: string }[]>("POST", tables("prompt_sets"), { brand_id: brand.id, name: "Prompts" }, { Prefer: "return=representation" })
  return made!.id
}
