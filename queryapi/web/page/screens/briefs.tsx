import { tables, root, useAnswer, write } from "../api.ts"
import type { Brand, Brief, Session } from "../bodies.ts"
import { stamp } from "../format.ts"
import { later } from "../later.tsx"
import { Card } from "../parts/card.tsx"
import { Button, Problem, useAction } from "../parts/form.tsx"
import { Shown } from "../parts/state.tsx"
import { changes, Table } from "../parts/table.tsx"
import { query, withParameters } from "../route.ts"
import { mayEdit } from "../session.ts"

const Markdown = later(() => import("../look.ts").then((m) => m.Markdown))
const following: Record<string, string> = { draft: "sent", sent: "done" } // the status after it

// Briefs lists what is to be written, or shows one.
export function Briefs({ brand, session }: { brand: Brand; session: Session }) {
  const id = query.value.get("brief")
  const one = useAnswer<Brief[]>(id && tables("content_briefs", { id: `eq.${id}`, brand_id: `eq.${brand.id}` }))
  const list = useAnswer<Brief[]>(id ? null : tables("content_briefs", { brand_id: `eq.${brand.id}`, select: "id,title,status,created_at", order: "created_at.desc,id" }))
  const { busy, failed, run } = useAction()
  const tools = (b: Brief) => (
    <>
      {mayEdit(session) && following[b.status] && (
        <Button disabled={busy} onClick={() => run(() => write("PATCH", tables("content_briefs", { id: `eq.${b.id}` }), { status: following[b.status] }))}>
          Mark as {following[b.status]}
        </Button>
      )}
      <a class="button tight" href={`${root}/briefs/${b.id}.md`} download>
        Download
      </a>
    </>
  )
  return (
    <>
      <Problem text={failed} />
      <Shown of={id ? one : list} height={320}>
        {(rows) =>
          !id ? (
            <div class="advice">
              <Table<Brief>
                name="Briefs"
                title="For who writes your pages: what answers say, cite and lack"
                rows={rows}
                empty="None yet. Make brief, beside a suggestion, writes one from its answers."
                columns={[
                  { name: "Title", long: true, cell: (b) => <a href={withParameters({ brief: b.id })}>{b.title}</a> },
                  { name: "Status", cell: (b) => b.status },
                  { name: "Created", tight: true, cell: (b) => stamp(b.created_at) },
                  { name: changes, cell: (b) => <div class="line">{tools(b)}</div> },
                ]}
              />
            </div>
          ) : rows[0] ? (
            <Card
              name={rows[0].title}
              tools={
                <>
                  {tools(rows[0])}
                  <a class="button tight" href={withParameters({ brief: undefined })}>
                    All briefs
                  </a>
                </>
              }
            >
              <Markdown text={rows[0].body.replace(/^# .*/, "").replaceAll("\n- [ ] ", "\n- ☐ ")} />
            </Card>
          ) : (
            <p>This brief is gone.</p>
          )
        }
      </Shown>
    </>
  )
}
