import { useState } from "preact/hooks"
import { Failure, root, tables, useAnswer, write } from "../api.ts"
import type { Member, Session } from "../bodies.ts"
import { time } from "../format.ts"
import { Confirm } from "../parts/dialog.tsx"
import { Button, Choice, Problem, useAction } from "../parts/form.tsx"
import { Shown } from "../parts/state.tsx"
import { changes, Table } from "../parts/table.tsx"
import { mayManage, outranks, roles } from "../session.ts"
import { Invitations } from "./invitations.tsx"

export function Members({ session }: { session: Session }) {
  const members = useAnswer<Member[]>(`${root}/members`)
  const [removing, remove] = useState<Member | null>(null)
  const { busy, failed, run } = useAction()
  const mayChange = (m: Member) => mayManage(session) && outranks(session, m.role)
  const own = (m: Member) => m.id === session.userId
  return (
    <div class="stack">
      <Problem text={failed} />
      <Shown of={members} height={160}>
        {(list) => (
          <Table<Member>
            name="Members"
            title="Who signs in to this organization"
            rows={list}
            own={own}
            columns={[
              { name: "E-mail", cell: (m) => m.email },
              {
                name: "Role",
                cell: (m) =>
                  mayChange(m) ? (
                    <Choice name={`Role of ${m.email}`} value={m.role} among={roles.filter((role) => outranks(session, role))} busy={busy} onInput={(role) => run(() => change("PATCH", m, { role }))} />
                  ) : (
                    m.role
                  ),
              },
              { name: "State", cell: (m) => (m.is_active ? "active" : <span class="soft">disabled</span>) },
              { name: "Last sign-in", tight: true, cell: (m) => time(m.last_sign_in_at) },
              {
                name: changes,
                number: true,
                cell: (m: Member) =>
                  (own(m) || mayChange(m)) && (
                    <Button onClick={() => remove(m)} aria-label={own(m) ? "Leave organization" : `Remove ${m.email}`}>
                      {own(m) ? "Leave" : "Remove"}
                    </Button>
                  ),
              },
            ]}
          />
        )}
      </Shown>
      {mayManage(session) && <Invitations session={session} />}
      {removing && (
        <Confirm
          title={own(removing) ? "Leave this organization?" : `Remove ${removing.email}?`}
          act={own(removing) ? "Leave" : "Remove"}
          onClose={() => remove(null)}
          onAct={() => change("DELETE", removing)}
        >
          {own(removing)
            ? "You are signed out at once, and your API keys stop. What you made stays. Only an invitation lets you in again."
            : "They are signed out at once, and their API keys stop. What they made stays."}
        </Confirm>
      )}
    </div>
  )
}

// change writes a member; a row that a policy hides is no error of the API, only none that was changed.
async function change(method: string, member: Member, body?: object): Promise<void> {
  const changed = await write<unknown[]>(method, tables("members", { user_id: `eq.${member.id}` }), body, { Prefer: "return=representation" })
  if (changed.length === 0) throw new Failure(403, `Only an owner changes ${member.email}.`)
}
