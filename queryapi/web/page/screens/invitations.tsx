import { useState } from "preact/hooks"
import { root, tables, useAnswer, write } from "../api.ts"
import type { Session } from "../bodies.ts"
import { time } from "../format.ts"
import { Confirm, FormDialog, Once } from "../parts/dialog.tsx"
import { Button, Field, Select } from "../parts/form.tsx"
import { Shown } from "../parts/state.tsx"
import { changes, Table } from "../parts/table.tsx"
import { outranks, roles } from "../session.ts"

interface Invitation { id: string; email: string; role: string; created_at: string; expires_at: string }
interface Made { email: string; url?: string } // url: no mail is sent

// Invitations are those that are open; Invite makes one, whose link is shown once.
export function Invitations({ session }: { session: Session }) {
  const rows = useAnswer<Invitation[]>(tables("invitations", { accepted_at: "is.null", revoked_at: "is.null", order: "created_at.desc" }))
  const [inviting, invite] = useState(false)
  const [made, show] = useState<Made>()
  const [revoking, revoke] = useState<Invitation>()
  return (
    <>
      <Shown of={rows} height={80}>
        {(list) => (
          <Table<Invitation>
            name="Invitations"
            title="Who was invited and has not followed the link yet"
            rows={list.filter((i) => new Date(i.expires_at) > new Date())}
            empty="None is open."
            tools={
              <Button kind="primary" onClick={() => invite(true)}>
                Invite
              </Button>
            }
            columns={[
              { name: "E-mail", cell: (i) => i.email },
              { name: "Role", cell: (i) => i.role },
              { name: "Invited", tight: true, cell: (i) => time(i.created_at) },
              { name: "Ends", tight: true, cell: (i) => time(i.expires_at) },
              {
                name: changes,
                number: true,
                cell: (i) => (
                  <Button kind="danger tight" aria-label={`Revoke ${i.email}`} onClick={() => revoke(i)}>
                    Revoke
                  </Button>
                ),
              },
            ]}
          />
        )}
      </Shown>
      {inviting && <Invite session={session} onClose={() => invite(false)} onMade={show} />}
      {made?.url && (
        <Once title={`The invitation of ${made.email}`} text={made.url} onClose={() => show(undefined)}>
          No mail is sent from here: hand it over yourself. It works once, for seven days.
        </Once>
      )}
      {made && !made.url && <p role="status">The invitation was mailed to {made.email}. Its link works once, for seven days.</p>}
      {revoking && (
        <Confirm title={`Revoke the invitation of ${revoking.email}?`} act="Revoke" onClose={() => revoke(undefined)} onAct={() => write("DELETE", `${root}/invitations/${revoking.id}`)}>
          Its link does not work any more.
        </Confirm>
      )}
    </>
  )
}

function Invite({ session, onClose, onMade }: { session: Session; onClose: () => void; onMade: (made: Made) => void }) {
  const [email, setEmail] = useState("")
  const [role, setRole] = useState("viewer")
  const invite = async () => onMade({ ...(await write<Made>("POST", `${root}/invitations`, { email, role })), email })
  return (
    <FormDialog title="Invite" act="Invite" onClose={onClose} onAct={invite}>
      <Field label="E-mail" type="email" value={email} onInput={setEmail} required autoFocus />
      <Select label="Role" value={role} onInput={setRole}>
        {roles.filter((r) => outranks(session, r)).map((r) => (
          <option key={r}>{r}</option>
        ))}
      </Select>
    </FormDialog>
  )
}
