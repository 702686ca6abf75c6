import { useState } from "preact/hooks"
import { root, tables, useAnswer, write } from "../api.ts"
import type { Key, Session } from "../bodies.ts"
import { date, time } from "../format.ts"
import { later } from "../later.tsx"
import { Confirm, FormDialog, Once } from "../parts/dialog.tsx"
import { Button, Field, Select } from "../parts/form.tsx"
import { Screen } from "../parts/frame.tsx"
import { Segments } from "../parts/segments.tsx"
import { Shown } from "../parts/state.tsx"
import { changes, Table } from "../parts/table.tsx"
import { query } from "../route.ts"
import { mayManage } from "../session.ts"
import { Apps } from "./apps.tsx"
import { Budgets } from "./budgets.tsx"
import { Providers } from "./providers.tsx"

const AuditLog = later(() => import("../tell.ts").then((m) => m.AuditLog))
const Members = later(() => import("../tell.ts").then((m) => m.Members))
const Webhooks = later(() => import("../tell.ts").then((m) => m.Webhooks))

interface Minted { id: string; key: string; name: string }
const tabs = [
  { tab: "", name: "API Keys", Show: Keys },
  { tab: "members", name: "Members", Show: Members },
  { tab: "providers", name: "Providers", Show: Providers },
  { tab: "budgets", name: "Budgets", Show: Budgets },
  { tab: "webhooks", name: "Webhooks", Show: Webhooks, managed: true },
  { tab: "audit", name: "Audit log", Show: AuditLog, managed: true },
]

export function Settings({ session }: { session: Session }) {
  const organization = useAnswer<{ name: string }[]>(tables("organizations", { select: "name" })).data?.[0]
  const shown = tabs.filter((t) => !t.managed || mayManage(session))
  const { Show } = shown.find((t) => t.tab === query.value.get("tab")) ?? shown[0]!
  return (
    <Screen name="Organization" of={organization?.name}>
      <Segments name="Settings" parameter="tab" options={shown.map((t) => [t.tab, t.name])} drops="offset" />
      <Show session={session} />
    </Screen>
  )
}

// scopes are what keys may do, as people read it.
const scopes = [
  { scope: "metrics:read", may: "read figures" },
  { scope: "metrics:read tracking:write", may: "read figures and start runs" },
  { scope: "tracking:write", may: "start runs" },
]
const may = (key: Key) => scopes.find((s) => s.scope === [...key.scopes].sort().join(" "))?.may ?? key.scopes.join(", ")

function Keys() {
  const keys = useAnswer<{ keys: Key[] }>(`${root}/keys`)
  const [creating, create] = useState(false)
  const [minted, show] = useState<Minted | null>(null)
  const [revoking, revoke] = useState<Key | null>(null)
  return (
    <div class="stack">
      <Shown of={keys} height={160}>
        {({ keys }) => (
          <Table<Key>
            name="API Keys"
            title="Programs ask /api/v1 with them, as the user who made them"
            rows={keys}
            empty="No keys yet."
            tools={
              <Button kind="primary" onClick={() => create(true)}>
                Create key
              </Button>
            }
            columns={[
              { name: "Name", cell: (k) => k.name },
              { name: "Key", cell: (k) => <code>{k.prefix}…</code> },
              { name: "May", cell: may },
              { name: "Created", tight: true, cell: (k) => date(k.created_at) },
              { name: "Last used", tight: true, cell: (k) => time(k.last_used_at) },
              { name: "Expires", tight: true, cell: (k) => (k.expires_at ? time(k.expires_at) : "never") },
              { name: "State", tight: true, cell: (k) => (k.revoked_at ? <span class="soft">revoked {date(k.revoked_at)}</span> : "in use") },
              {
                name: changes,
                number: true,
                cell: (k) =>
                  !k.revoked_at && (
                    <Button kind="danger tight" onClick={() => revoke(k)}>
                      Revoke
                    </Button>
                  ),
              },
            ]}
          />
        )}
      </Shown>
      <Apps />
      {creating && <CreateKey onClose={() => create(false)} onMinted={show} />}
      {minted && (
        <Once title={`The key ${minted.name}`} text={minted.key} onClose={() => show(null)}>
          The server keeps its hash alone.
        </Once>
      )}
      {revoking && (
        <Confirm
          title={`Revoke ${revoking.name}?`}
          act="Revoke"
          onClose={() => revoke(null)}
          onAct={() => write("DELETE", `${root}/keys/${revoking.id}`)}
        >
          Programs that use {revoking.prefix}… are refused from now on. It cannot be undone.
        </Confirm>
      )}
    </div>
  )
}

function CreateKey({ onClose, onMinted }: { onClose: () => void; onMinted: (key: Minted) => void }) {
  const [name, setName] = useState("")
  const [scope, setScope] = useState(scopes[0]!.scope)
  const create = async () => onMinted(await write<Minted>("POST", `${root}/keys`, { name, scopes: scope.split(" ") }))
  return (
    <FormDialog title="Create key" act="Create" onClose={onClose} onAct={create}>
      <Field label="Name" value={name} onInput={setName} required autoFocus hint="Where it is used, such as weekly report." />
      <Select label="May" value={scope} onInput={setScope}>
        {scopes.map((s) => (
          <option key={s.scope} value={s.scope}>
            {s.may}
          </option>
        ))}
      </Select>
    </FormDialog>
  )
}
