import { useState } from "preact/hooks"
import { metrics, root, tables, useAnswer, write } from "../api.ts"
import type { Brand, Member, Session } from "../bodies.ts"
import { Chip } from "../chart/chip.tsx"
import { date, number, percent, plural, shift, stamp, time } from "../format.ts"
import { Confirm, Dialog, FormDialog } from "../parts/dialog.tsx"
import { screen } from "../parts/filters.tsx"
import { Button, Field, Problem, Select, useAction } from "../parts/form.tsx"
import { Screen } from "../parts/frame.tsx"
import { platformName } from "../parts/platform.ts"
import { Failed, Shown } from "../parts/state.tsx"
import { changes, Table } from "../parts/table.tsx"
import { aboutBrand, Notifier, Toolbar } from "../parts/toolbar.tsx"
import { Types } from "../parts/types.tsx"
import { mayManage, meta } from "../session.ts"

// mailed are the types of events that are mailed, as people read them.
const mailed = {
  "visibility.moved": "The mention rate moved, or is back",
  "platform.degraded": "A platform gives up over a fifth of its runs",
  "platform.recovered": "That platform answers again",
  "tracking.skipped": "Prompts were due and not asked",
  "report.weekly": "The week, on Mondays",
}

interface Subscription { id: string; brand_id: string | null; user_id: string | null; address: string | null; events: string[]; drops_only: boolean; confirmed_at: string | null; stopped_at: string | null; stopped_reason: string | null; last_sent_at: string | null }
interface Preview { messages: number; drops: number; moves: { day: string; platform: string | null; verdict: string; since: string | null; difference: number | null }[] }

const usePreview = (brand: Brand) => useAnswer<Preview>(metrics("alert-preview", { brand_id: brand.id }))

// useWishes keeps what a subscription is to; its fields change it.
function useWishes(row?: Subscription) {
  const [events, setEvents] = useState(row?.events ?? Object.keys(mailed))
  const [drops, setDrops] = useState(row?.drops_only ?? true)
  const fields = (
    <>
      <Types names={mailed} chosen={events} onInput={setEvents} />
      <label class="check">
        <input type="checkbox" checked={drops} onInput={() => setDrops(!drops)} /> Leave out moves up
      </label>
    </>
  )
  return { wishes: { events, drops_only: drops }, fields }
}

interface DialogProps { brand: Brand; onClose: () => void }

// NotifyDialog shows what the user is mailed about a brand, changes and stops it.
export function NotifyDialog({ brand, onClose }: DialogProps) {
  const user = useAnswer<Session>(`${root}/session`).data
  const rows = useAnswer<Subscription[]>(user ? tables("subscriptions", { user_id: `eq.${user.userId}`, or: aboutBrand(brand), order: "brand_id" }) : null)
  const preview = usePreview(brand)
  const ready = user && rows.data && (preview.data ?? preview.failure)
  if (ready) return <Notify brand={brand} email={user.email} row={rows.data![0]} preview={preview.data} onClose={onClose} />
  if (!rows.failure) return null
  return (
    <Dialog title={`Notify me about ${brand.name}`} onClose={onClose}>
      <Failed message={rows.failure.message} />
    </Dialog>
  )
}

const noMails = "No mail is sent from here yet: the operator sets up a mail relay (docs/mail.md). What fired is under Alerts."

function Notify({ brand, email, row, preview, onClose }: DialogProps & { email: string; row?: Subscription; preview?: Preview }) {
  const { wishes, fields } = useWishes(row)
  const [all, setAll] = useState("")
  const { failed, run } = useAction()
  const save = () =>
    row
      ? write("PATCH", tables("subscriptions", { id: `eq.${row.id}` }), { ...wishes, stopped_at: null })
      : write("POST", tables("subscriptions"), { ...wishes, brand_id: all ? null : brand.id })
  const stop = () => write("DELETE", tables("subscriptions", { id: `eq.${row!.id}` })).then(onClose)
  const moves = preview && (wishes.drops_only ? preview.drops : preview.messages)
  return (
    <FormDialog title={`Notify me about ${brand.name}`} act={row ? "Save" : "Notify me"} can={wishes.events.length > 0} onClose={onClose} onAct={save}>
      <p>
        {!meta("mails") ? noMails : row ? (row.stopped_at ? `Mails to ${email} were stopped on ${date(row.stopped_at)}.` : `Mails go to ${email}, about ${row.brand_id ? brand.name : "all brands"}.`) : `Mails will go to ${email}.`}
        {moves !== undefined && ` About moves of ${brand.name} there would have been ${plural(moves, "mail")} in the last 90 days.`}
      </p>
      {fields}
      {!row && (
        <Select label="Brands" value={all} onInput={setAll}>
          <option value="">{brand.name}</option>
          <option value="all">All, new ones too</option>
        </Select>
      )}
      <Problem text={failed} />
      {row && (
        <div>
          <Button kind="danger tight" onClick={() => run(stop)}>
            Stop these mails
          </Button>
        </div>
      )}
    </FormDialog>
  )
}

// Alerts says of what the brand's users were meta, on which evidence, and who is mailed.
export function Alerts({ brand, session }: { brand: Brand; session: Session }) {
  return (
    <Screen name="Alerts" of={brand.name} bar={<Toolbar brand={brand} timeless />} tools={<Notifier brand={brand} session={session} />}>
      <div class="stack">
        <Fired brand={brand} />
        <WouldHaveFired brand={brand} />
        <Subscriptions brand={brand} session={session} />
      </div>
    </Screen>
  )
}

interface Figure { rate: number | null; low: number | null; high: number | null; n: number }
interface Data {
  window: { date_from: string; date_to: string }
  moves?: (Figure & { platform: string | null; verdict: string; reach: string; from: Figure })[]
  platform: string
  brands?: { id: string }[]
  runs: number
  gave_up: Record<string, number>
  since: string
  reason: string
  platforms?: string[]
  until: string | null
}
interface Event { at: string; type: string; data: Data }
interface Line { at: string; verdict: string; subject: string; evidence: string; href?: string }

const figure = ({ rate, low, high, n }: Figure) => `${percent(rate)}${low === null ? "" : ` (${number(low)}–${number(high)}%)`}, n\u00a0=\u00a0${number(n)}`

// overview is the window that a day's verdict is about.
const overview = (brand: Brand, to: string, platform: string | null) => screen(brand, "", { date_from: shift(to, -27), date_to: to, platform: platform ?? undefined })

const reasons: Record<string, [why: string, screen: (brand: Brand) => string | undefined]> = {
  budget: ["the budget is used up", () => "/settings?tab=budgets"],
  no_prompts: ["no prompt is active", (brand) => screen(brand, "prompts", { show: "tracked" })],
  no_key: ["a platform has no key", () => "/settings?tab=providers"],
}

// linesOf are what an event tells of a brand, each with its evidence and the screen that shows it.
function linesOf(brand: Brand, { at, type, data }: Event): Line[] {
  const gaveUp = Object.entries(data.gave_up ?? {}).map(([kind, runs]) => `${kind.replaceAll("_", " ")} ${number(runs)}`).join(", ")
  switch (type) {
    case "visibility.moved":
      return (data.moves ?? []).map((m) => ({
        at,
        verdict: m.verdict,
        subject: (m.platform ? platformName(m.platform) : "All answers") + (m.reach === "prompts" ? ", these prompts" : ""),
        evidence: `${figure(m)}; before ${figure(m.from)}`,
        href: overview(brand, data.window.date_to, m.platform),
      }))
    case "tracking.skipped": {
      const [why, to] = reasons[data.reason] ?? [data.reason, () => undefined]
      return [{ at, verdict: "not_asked", subject: data.platforms?.map((slug) => platformName(slug)).join(", ") || "All platforms", evidence: why + (data.until ? `, until ${time(data.until)}` : ""), href: to(brand) }]
    }
  }
  if (!data.brands?.some((b) => b.id === brand.id)) return []
  const since = `, since ${time(data.since)}`
  return [{ at, verdict: type.split(".")[1]!, subject: platformName(data.platform), evidence: `${plural(data.runs, "run")} of a job; given up: ${gaveUp || "none"}${since}`, href: screen(brand, "tracking") }]
}

function Fired({ brand }: { brand: Brand }) {
  const types = Object.keys(mailed).filter((type) => type !== "report.weekly")
  const events = useAnswer<Event[]>(tables("events", { select: "at,type,data", type: `in.(${types})`, or: aboutBrand(brand), order: "at.desc,id", limit: "100" }))
  return (
    <Shown of={events}>
      {(list) => (
        <Table<Line>
          name="Alerts"
          title="What fired in the last 90 days, and on which evidence; the newest first"
          rows={list.flatMap((event) => linesOf(brand, event))}
          empty="Nothing has fired in the last 90 days."
          columns={[
            { name: "When", tight: true, cell: (l) => stamp(l.at) },
            {
              name: "What",
              long: true,
              cell: (l) => (
                <>
                  <Chip change={l} short /> {l.href ? <a href={l.href}>{l.subject}</a> : l.subject}
                </>
              ),
            },
            { name: "Evidence", long: true, cell: (l) => l.evidence },
          ]}
        />
      )}
    </Shown>
  )
}

// WouldHaveFired is what to expect before one asks for mails.
function WouldHaveFired({ brand }: { brand: Brand }) {
  return (
    <Shown of={usePreview(brand)}>
      {({ messages, drops, moves }) => (
        <Table<Preview["moves"][number]>
          name="Before you switch it on"
          title={`Would have fired ${plural(messages, "time")} in the last 90 days; ${plural(drops, "time")} because something fell or was back`}
          rows={moves}
          empty="Moves would have been told here, day by day."
          columns={[
            { name: "Day", tight: true, cell: (m) => date(m.day) },
            {
              name: "What",
              long: true,
              cell: (m) => (
                <>
                  <Chip change={m} /> <a href={overview(brand, m.day, m.platform)}>{m.platform ? platformName(m.platform) : "All answers"}</a>
                </>
              ),
            },
            { name: "Since", tight: true, roomy: true, cell: (m) => m.since && date(m.since) },
          ]}
          csv={{ url: metrics("alert-preview", { brand_id: brand.id, table: "moves" }), file: "alert-preview.csv" }}
        />
      )}
    </Shown>
  )
}

function Subscriptions({ brand, session }: { brand: Brand; session: Session }) {
  const rows = useAnswer<Subscription[]>(tables("subscriptions", { or: aboutBrand(brand), order: "created_at" }))
  const members = useAnswer<Member[]>(`${root}/members`).data
  const [adding, add] = useState(false)
  const [removing, remove] = useState<Subscription>()
  const receiver = (s: Subscription) => s.address ?? members?.find((m) => m.id === s.user_id)?.email ?? "a former member"
  const state = (s: Subscription) => (s.stopped_at ? `stopped ${date(s.stopped_at)} (${s.stopped_reason})` : s.address && !s.confirmed_at ? "not confirmed yet" : "on")
  return (
    <>
      <Shown of={rows}>
        {(list) => (
          <Table<Subscription>
            name="Subscriptions"
            title={mayManage(session) ? "Who is mailed about the brand" : "What you are mailed about the brand"}
            rows={list}
            own={(s) => s.user_id === session.userId}
            empty="Nobody yet: Notify me, above, adds yourself."
            tools={mayManage(session) && <Button onClick={() => add(true)}>Add address</Button>}
            columns={[
              { name: "To", cell: receiver },
              { name: "About", tight: true, cell: (s) => (s.brand_id ? brand.name : "all brands") },
              { name: "Events", long: true, cell: (s) => s.events.map((type) => mailed[type as keyof typeof mailed]).join("; ") + (s.drops_only ? "; without moves up" : "") },
              { name: "State", tight: true, cell: state },
              { name: "Last mail", tight: true, cell: (s) => time(s.last_sent_at) },
              {
                name: changes,
                number: true,
                cell: (s) => (
                  <Button kind="danger tight" aria-label={`Remove ${receiver(s)}`} onClick={() => remove(s)}>
                    Remove
                  </Button>
                ),
              },
            ]}
          />
        )}
      </Shown>
      {adding && <AddAddress brand={brand} onClose={() => add(false)} />}
      {removing && (
        <Confirm title={`Remove ${receiver(removing)}?`} act="Remove" onClose={() => remove(undefined)} onAct={() => write("DELETE", tables("subscriptions", { id: `eq.${removing.id}` }))}>
          No mail goes there any more{removing.brand_id ? `, about ${brand.name}` : ""}.
        </Confirm>
      )}
    </>
  )
}

function AddAddress({ brand, onClose }: DialogProps) {
  const [address, setAddress] = useState("")
  const { wishes, fields } = useWishes()
  return (
    <FormDialog
      title="Add address"
      act="Add"
      can={wishes.events.length > 0}
      onClose={onClose}
      onAct={() => write("POST", `${root}/subscriptions`, { ...wishes, address, brand_id: brand.id })}
    >
      <Field label="E-mail" type="email" value={address} onInput={setAddress} required autoFocus hint="It gets one mail with a link that confirms it, and no other before." />
      {fields}
    </FormDialog>
  )
}
