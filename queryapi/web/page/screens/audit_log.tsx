import { root, tables, useAnswer } from "../api.ts"
import type { Member } from "../bodies.ts"
import { time } from "../format.ts"
import { Shown } from "../parts/state.tsx"
import { Pages, Table } from "../parts/table.tsx"
import { query } from "../route.ts"

interface Line { id: string; at: string; action: string; subject: string; actor_id: string | null }

const shown = 100

// AuditLog is read from the newest line on.
export function AuditLog() {
  const members = useAnswer<Member[]>(`${root}/members`).data
  const offset = query.value.get("offset") ?? undefined
  const url = tables("audit_log", { select: "id,at,action,subject,actor_id", order: "at.desc,id", limit: String(shown + 1), offset })
  const lines = useAnswer<Line[]>(url)
  const actor = (line: Line) => (line.actor_id ? (members && (members.find((m) => m.id === line.actor_id)?.email ?? "a former member")) : "the command line")
  return (
    <Shown of={lines} height={240}>
      {(list) => (
        <div class="stack">
          <Table<Line>
            name="Audit log"
            title="Who gave or took access, set keys and budgets, and changed brands; the newest first"
            rows={list.slice(0, shown)}
            empty="Nothing yet."
            columns={[
              { name: "When", tight: true, cell: (l) => time(l.at) },
              { name: "What", tight: true, cell: (l) => l.action },
              { name: "To whom or what", long: true, cell: (l) => l.subject },
              { name: "By", cell: actor },
            ]}
            csv={{ url: tables("audit_log", { select: "at,action,subject,actor_id,detail", order: "at.desc,id" }), file: "audit-log.csv" }}
          />
          <Pages parameter="offset" at={offset} next={list.length > shown ? String(Number(offset ?? 0) + shown) : null} />
        </div>
      )}
    </Shown>
  )
}
