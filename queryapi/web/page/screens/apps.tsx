import { useState } from "preact/hooks"
import { root, useAnswer, write } from "../api.ts"
import { date, time } from "../format.ts"
import { Confirm } from "../parts/dialog.tsx"
import { Button } from "../parts/form.tsx"
import { Shown } from "../parts/state.tsx"
import { changes, Table } from "../parts/table.tsx"

interface App { id: string; name: string; redirect_uri: string; scopes: string[]; user: string; created_at: string; last_used_at: string }

// Apps lists what was connected by OAuth, such as claude.ai; nothing where nothing was.
export function Apps() {
  const answer = useAnswer<{ apps: App[] }>(`${root}/apps`)
  const [ending, end] = useState<App>()
  if (!answer.failure && !answer.data?.apps.length) return null
  return (
    <>
      <Shown of={answer}>
        {({ apps }) => (
          <Table<App>
            name="Connected apps"
            title="They ask /mcp for the user who allowed it"
            rows={apps}
            empty="None."
            columns={[
              { name: "App", long: true, cell: (a) => a.name },
              { name: "Answered at", long: true, cell: (a) => <code>{a.redirect_uri}</code> },
              { name: "User", cell: (a) => a.user },
              { name: "May", cell: (a) => (a.scopes.includes("tracking:write") ? "read figures and start runs" : "read figures") },
              { name: "Connected", tight: true, cell: (a) => date(a.created_at) },
              { name: "Last token", tight: true, cell: (a) => time(a.last_used_at) },
              {
                name: changes,
                number: true,
                cell: (a) => (
                  <Button kind="danger tight" aria-label={`Disconnect ${a.name}`} onClick={() => end(a)}>
                    Disconnect
                  </Button>
                ),
              },
            ]}
          />
        )}
      </Shown>
      {ending && (
        <Confirm title={`Disconnect ${ending.name}?`} act="Disconnect" onClose={() => end(undefined)} onAct={() => write("DELETE", `${root}/apps/${ending.id}`)}>
          It is refused from now on, until {ending.user} connects it again.
        </Confirm>
      )}
    </>
  )
}
