import { useEffect, useState } from "preact/hooks"
import { metrics, refresh, root, tables, useAnswer, write } from "../api.ts"
import type { Brands } from "../bodies.ts"
import { number, shift, stamp, time, today } from "../format.ts"
import { Confirm, FormDialog, Once } from "../parts/dialog.tsx"
import { Button, Choice, Field, Problem, Select, useAction } from "../parts/form.tsx"
import { Shown } from "../parts/state.tsx"
import { changes, Table } from "../parts/table.tsx"
import { Types } from "../parts/types.tsx"

// eventTypes names the types of events that an endpoint may choose.
const eventTypes = Object.fromEntries(
  (
    "tracking.completed tracking.failed tracking.cancelled tracking.skipped visibility.moved platform.degraded platform.recovered report.weekly suggestions.created " +
    "content_brief.created content_brief.sent brand.created brand.deleted member.added member.changed member.removed key.created key.revoked webhook_endpoint.disabled"
  ).split(" ").map((type) => [type, type]),
)

interface Endpoint { id: string; kind: string; url: string; description: string; events: string[]; brand_id: string | null; is_active: boolean; failing_since: string | null; disabled_at: string | null; disabled_reason: string | null; last_delivered_at: string | null }
interface Delivery { id: string; endpoint_id: string; event: string; status: string; attempts: number; next_attempt_at: string; response_status: number | null; duration_ms: number | null; error: string | null; created_at: string }
interface Secret { url: string; secret?: string; text: string }

const looks: Record<string, string> = { delivered: "tag own", failed: "tag warn" }

// missedSince is the last delivery, as far back as events are kept.
const missedSince = (e: Endpoint) => [e.last_delivered_at ?? "", shift(today(), -89) + "T00:00:00Z"].sort()[1]

const soon = 60_000 // ms until an attempt that is waited for

// Webhooks are where events are posted, and what came of it.
export function Webhooks() {
  const endpoints = useAnswer<Endpoint[]>(tables("webhook_endpoints", { order: "created_at,id" }))
  const deliveries = useAnswer<Delivery[]>(tables("webhook_deliveries", { order: "created_at.desc,id", limit: "50" }))
  const brands = useAnswer<Brands>(metrics("brands")).data?.brands ?? []
  const [editing, edit] = useState<Partial<Endpoint>>()
  const [rotating, rotate] = useState<Endpoint>()
  const [removing, remove] = useState<Endpoint>()
  const [secret, show] = useState<Secret>()
  const { busy, failed, run } = useAction()
  const awaited = deliveries.data?.some((d) => d.status === "pending" && Date.parse(d.next_attempt_at) - Date.now() < soon)
  useEffect(() => {
    if (!awaited) return
    const timer = setInterval(refresh, 2000)
    return () => clearInterval(timer)
  }, [awaited])
  const post = <T,>(id: string, what: string, body?: object) => write<T>("POST", `${root}/webhooks/${id}/${what}`, body)
  const change = (id: string, body: object) => write("PATCH", tables("webhook_endpoints", { id: `eq.${id}` }), body)
  const resume = (e: Endpoint) => run(() => change(e.id, { is_active: true }).then(() => post(e.id, "redeliver", { since: missedSince(e) })))
  const sign = async (e: Endpoint) => {
    const { secret } = await post<{ secret: string }>(e.id, "rotate")
    show({ url: e.url, secret, text: "For 24 hours requests are signed with the one before, too." })
  }
  return (
    <div class="stack">
      <Problem text={failed} />
      {endpoints.data?.filter((e) => e.disabled_at).map((e) => (
        <div class="notice bad line" role="alert" key={e.id}>
          <span class="long">
            {e.url} was switched off on {time(e.disabled_at)}: {e.disabled_reason === "gone" ? "it answered 410 Gone" : "nothing was delivered for five days"}. Mend it, then switch it on; what it missed is sent again.
          </span>
          <Button kind="tight" onClick={() => resume(e)}>
            Switch on and resend
          </Button>
        </div>
      ))}
      <Shown of={endpoints}>
        {(list) => (
          <Table<Endpoint>
            name="Webhooks"
            title="Where events are posted, as they happen; at most 10"
            rows={list}
            empty="None yet."
            tools={
              <Button kind="primary" onClick={() => edit({})}>
                Add webhook
              </Button>
            }
            columns={[
              { name: "URL", long: true, cell: (e) => e.url },
              {
                name: "Events",
                long: true,
                cell: (e) => (
                  <>
                    {e.events.join(", ") || "all"}
                    {e.brand_id && ` of ${brands.find((b) => b.id === e.brand_id)?.name ?? "a brand"}`} <span class="soft">{e.description}</span>
                  </>
                ),
              },
              { name: "State", cell: (e) => <Choice name={`State of ${e.url}`} value={e.is_active ? "on" : "off"} among={["on", "off"]} busy={busy} onInput={(state) => run(() => change(e.id, { is_active: state === "on" }))} /> },
              { name: "Last delivered", cell: (e) => (e.last_delivered_at ? stamp(e.last_delivered_at) : "never") + (e.failing_since ? `; failing since ${stamp(e.failing_since)}` : "") },
              {
                name: changes,
                number: true,
                cell: (e) => (
                  <>
                    <Button onClick={() => run(() => post(e.id, "test"))}>Test</Button>
                    <Button onClick={() => edit(e)}>Edit</Button>
                    {e.kind !== "slack" && <Button onClick={() => rotate(e)}>Rotate</Button>}
                    <Button onClick={() => remove(e)}>Remove</Button>
                  </>
                ),
              },
            ]}
          />
        )}
      </Shown>
      <Shown of={deliveries}>
        {(list) => (
          <Table<Delivery>
            name="Deliveries"
            title="The newest 50: what was sent and what came back"
            rows={list}
            empty="None yet: Test sends one."
            columns={[
              { name: "Event", tight: true, cell: (d) => d.event },
              { name: "To", long: true, cell: (d) => endpoints.data?.find((e) => e.id === d.endpoint_id)?.url },
              { name: "When", tight: true, cell: (d) => stamp(d.created_at) },
              {
                name: "Status",
                cell: (d) => (
                  <>
                    <span class={looks[d.status] ?? "tag"}>{d.status}</span> {d.status === "pending" && `next ${stamp(d.next_attempt_at)}`}
                  </>
                ),
              },
              { name: "Answer", cell: (d) => [d.error ?? d.response_status, d.duration_ms !== null && `${number(d.duration_ms)}\u00a0ms`].filter(Boolean).join(", ") },
              { name: "Attempts", number: true, cell: (d) => number(d.attempts) },
              { name: changes, number: true, cell: (d) => d.status !== "pending" && <Button onClick={() => run(() => post(d.endpoint_id, "redeliver", { delivery_id: d.id }))}>Redeliver</Button> },
            ]}
            csv={{ url: tables("webhook_deliveries", { order: "created_at.desc,id" }), file: "webhook-deliveries.csv" }}
          />
        )}
      </Shown>
      {editing && <Edit endpoint={editing} brands={brands} onClose={() => edit(undefined)} onAdded={show} onChange={change} />}
      {secret?.secret && (
        <Once title="The secret" text={secret.secret} onClose={() => show(undefined)}>
          {secret.url} verifies with it what is posted. {secret.text}
        </Once>
      )}
      {rotating && (
        <FormDialog title="Rotate the secret?" act="Rotate" onClose={() => rotate(undefined)} onAct={() => sign(rotating)}>
          <p>{rotating.url} gets a new secret. The present one signs beside it for 24 hours; one before that stops at once.</p>
        </FormDialog>
      )}
      {removing && (
        <Confirm title="Remove the webhook?" act="Remove" onClose={() => remove(undefined)} onAct={() => write("DELETE", tables("webhook_endpoints", { id: `eq.${removing.id}` }))}>
          {removing.url} gets nothing any more, and its deliveries are forgotten.
        </Confirm>
      )}
    </div>
  )
}

interface EditProps { endpoint: Partial<Endpoint>; brands: Brands["brands"]; onClose: () => void; onAdded: (secret: Secret) => void; onChange: (id: string, body: object) => Promise<unknown> }

// Edit adds an endpoint, or changes what one hears: its address and its kind stay.
function Edit({ endpoint: { id, ...before }, brands, onClose, onAdded, onChange }: EditProps) {
  const [url, setURL] = useState("")
  const [kind, setKind] = useState("webhook")
  const [description, setDescription] = useState(before.description ?? "")
  const [brand, setBrand] = useState(before.brand_id ?? "")
  const [events, setEvents] = useState(before.events ?? [])
  const body = { description, events, brand_id: brand || null }
  const act = async () => {
    if (id) await onChange(id, body)
    else onAdded({ ...(await write<{ url: string; secret?: string }>("POST", `${root}/webhooks`, { ...body, url, kind })), text: "" })
  }
  return (
    <FormDialog title={id ? "Edit webhook" : "Add webhook"} act={id ? "Save" : "Add"} onClose={onClose} onAct={act}>
      {!id && (
        <>
          <Field label="URL" value={url} onInput={setURL} required autoFocus hint="Such as https://hooks.example.com/answerscope." />
          <Select label="Kind" value={kind} onInput={setKind}>
            <option value="webhook">Signed requests</option>
            <option value="slack">Messages in Slack, Mattermost or Discord</option>
          </Select>
        </>
      )}
      <Field label="Description" value={description} onInput={setDescription} hint="Optional." />
      <Select label="Brand" value={brand} onInput={setBrand}>
        <option value="">All, and the organization</option>
        {brands.map((b) => (
          <option key={b.id} value={b.id}>
            {b.name}
          </option>
        ))}
      </Select>
      <Types names={eventTypes} chosen={events} onInput={setEvents} hint="None chosen: all, new ones too." />
    </FormDialog>
  )
}
