import { useState } from "preact/hooks"
import { metrics, send, tables, useAnswer, write } from "../api.ts"
import type { Brand, Session, Traffic } from "../bodies.ts"
import { plural } from "../format.ts"
import { later } from "../later.tsx"
import { Card } from "../parts/card.tsx"
import { Confirm, FormDialog } from "../parts/dialog.tsx"
import { Button, Field, Problem, useAction, useAdding } from "../parts/form.tsx"
import { Screen } from "../parts/frame.tsx"
import { Shown } from "../parts/state.tsx"
import { changes, Table } from "../parts/table.tsx"
import { Toolbar } from "../parts/toolbar.tsx"
import { mayEdit } from "../session.ts"
import { HomePage } from "./home_page.tsx"

const ShareLinks = later(() => import("../tell.ts").then((m) => m.ShareLinks))

interface Competitor { id: string; name: string; aliases: string[]; domains: string[] }
interface Row {
  id: string
  name: string
  industry: string | null
  region: string | null
  language: string | null
  aliases: string[]
  brand_domains: { id: string; domain: string; is_primary: boolean }[]
  competitors: Competitor[]
}

export function BrandSettings({ brand, session }: { brand: Brand; session: Session }) {
  const rows = useAnswer<Row[]>(
    tables("brands", {
      id: `eq.${brand.id}`,
      select: "id,name,industry,region,language,aliases,brand_domains(id,domain,is_primary),competitors(id,name,aliases,domains)",
      "brand_domains.order": "is_primary.desc,created_at,id",
      "competitors.order": "name",
    }),
  )
  const editable = mayEdit(session)
  return (
    <Screen name="Settings" of={brand.name} bar={<Toolbar brand={brand} timeless />}>
      <Shown of={rows} height={320}>
        {([row]) =>
          row && (
            <div class="stack">
              <Names key={row.id} row={row} editable={editable} />
              <Domains brand={brand} row={row} editable={editable} />
              <Competitors row={row} editable={editable} />
              <Pixel brand={brand} />
              {editable && <ShareLinks brand={brand} session={session} />}
              {editable && <Delete row={row} />}
            </div>
          )
        }
      </Shown>
    </Screen>
  )
}

// listOf reads words that are separated by commas or lines.
const listOf = (text: string) => [...new Set(text.split(/[,\n]/).map((word) => word.trim()).filter(Boolean))]

function Names({ row, editable }: { row: Row; editable: boolean }) {
  const [name, setName] = useState(row.name)
  const [aliases, setAliases] = useState(row.aliases.join(", "))
  const [industry, setIndustry] = useState(row.industry ?? "")
  const [region, setRegion] = useState(row.region ?? "")
  const [language, setLanguage] = useState(row.language ?? "")
  const [saved, setSaved] = useState("")
  const { busy, failed, submit } = useAction()
  const now = { name, aliases: listOf(aliases), industry: industry || null, region: region || null, language: language || null }
  const changed = JSON.stringify(now) !== JSON.stringify({ name: row.name, aliases: row.aliases, industry: row.industry, region: row.region, language: row.language })
  const save = async () => {
    setSaved("")
    const renamed = name !== row.name || now.aliases.join("\n") !== row.aliases.join("\n")
    await write("PATCH", tables("brands", { id: `eq.${row.id}` }), now)
    setSaved(renamed ? "Saved. Kept answers are read again with the new names, in the background." : "Saved.")
  }
  return (
    <Card name="Names" title="What counts as a mention of the brand">
      <form class="inside stack" onSubmit={submit(save)}>
        <fieldset class="plain stack" disabled={!editable}>
          <div class="line">
            <Field label="Name" value={name} onInput={setName} required />
            <Field label="Aliases" value={aliases} onInput={setAliases} hint="Other names, separated by commas." />
          </div>
          <div class="line">
            <Field label="Industry" value={industry} onInput={setIndustry} />
            <Field label="Home region" value={region} onInput={setRegion} hint="A country, such as de." />
            <Field label="Language" value={language} onInput={setLanguage} hint="Such as de." />
          </div>
          <Problem text={failed} />
          {editable && (
            <div class="line">
              <button class="button primary" disabled={busy || !changed}>
                Save
              </button>
              <span role="status" class="soft">
                {!changed && saved}
              </span>
            </div>
          )}
        </fieldset>
      </form>
    </Card>
  )
}

function Domains({ brand, row, editable }: { brand: Brand; row: Row; editable: boolean }) {
  const { text, setText, onSubmit, busy, failed, run } = useAdding((domain) => write("POST", tables("brand_domains"), { brand_id: row.id, domain, is_primary: row.brand_domains.length === 0 }))
  return (
    <Card name="Domains" title="Citations of their pages are the brand's own, and the pixel counts visits on them">
      <div class="inside stack">
        {row.brand_domains.length > 0 ? (
          <ul class="chips" aria-label="Domains">
            {row.brand_domains.map((d) => (
              <li key={d.id}>
                {d.domain}
                {editable && (
                  <button type="button" aria-label={`Remove ${d.domain}`} disabled={busy} onClick={() => run(() => write("DELETE", tables("brand_domains", { id: `eq.${d.id}` })))}>
                    ×
                  </button>
                )}
              </li>
            ))}
          </ul>
        ) : (
          <p class="soft">None yet: no citation can be the brand's own.</p>
        )}
        <Problem text={failed} />
        {editable && (
          <form class="line bottom" onSubmit={onSubmit}>
            <Field label="Domain" value={text} onInput={setText} required />
            <button class="button" disabled={busy}>
              Add domain
            </button>
          </form>
        )}
        {editable && row.brand_domains.length > 0 && <HomePage brand={brand} />}
      </div>
    </Card>
  )
}

function Competitors({ row, editable }: { row: Row; editable: boolean }) {
  const [editing, edit] = useState<Competitor | null>(null)
  const [removing, remove] = useState<Competitor | null>(null)
  const { text, setText, onSubmit, busy, failed } = useAdding((name) => write("POST", tables("competitors"), { brand_id: row.id, name }))
  return (
    <>
      <Table<Competitor>
        name="Competitors"
        title="Who the brand is compared with; one added today has a history, since kept answers are read again"
        rows={row.competitors}
        empty="None yet: without them there is no share of voice."
        columns={[
          { name: "Name", cell: (c) => c.name },
          { name: "Aliases", long: true, cell: (c) => c.aliases.join(", ") },
          { name: "Domains", long: true, cell: (c) => c.domains.join(", ") },
          ...(editable
            ? [{
                name: changes,
                number: true,
                cell: (c: Competitor) => (
                  <>
                    <Button onClick={() => edit(c)} aria-label={`Edit ${c.name}`}>
                      Edit
                    </Button>
                    <Button onClick={() => remove(c)} aria-label={`Remove ${c.name}`}>
                      Remove
                    </Button>
                  </>
                ),
              }]
            : []),
        ]}
        csv={{ url: tables("competitors", { brand_id: `eq.${row.id}`, select: "name,aliases,domains", order: "name" }), file: `${row.name}-competitors.csv` }}
        foot={
          editable && (
            <form class="inside stack" onSubmit={onSubmit}>
              <div class="line bottom">
                <Field label="Competitor name" value={text} onInput={setText} required />
                <button class="button" disabled={busy}>
                  Add competitor
                </button>
              </div>
              <Problem text={failed} />
            </form>
          )
        }
      />
      {editing && <EditCompetitor competitor={editing} onClose={() => edit(null)} />}
      {removing && (
        <Confirm
          title={`Remove ${removing.name}?`}
          act="Remove"
          onClose={() => remove(null)}
          onAct={() => write("DELETE", tables("competitors", { id: `eq.${removing.id}` }))}
        >
          It leaves every comparison within a second. Added again, it has its history back once kept answers are read.
        </Confirm>
      )}
    </>
  )
}

function EditCompetitor({ competitor, onClose }: { competitor: Competitor; onClose: () => void }) {
  const [name, setName] = useState(competitor.name)
  const [aliases, setAliases] = useState(competitor.aliases.join(", "))
  const [domains, setDomains] = useState(competitor.domains.join(", "))
  const save = () => write("PATCH", tables("competitors", { id: `eq.${competitor.id}` }), { name, aliases: listOf(aliases), domains: listOf(domains) })
  return (
    <FormDialog title="Edit competitor" act="Save" onClose={onClose} onAct={save}>
      <Field label="Competitor's name" value={name} onInput={setName} required />
      <Field label="Its aliases" value={aliases} onInput={setAliases} hint="Other names, separated by commas." />
      <Field label="Its domains" value={domains} onInput={setDomains} hint="Such as example.com, separated by commas." />
    </FormDialog>
  )
}

// Pixel is the script tag of the site, as docs/pixel.md has it, and whether visits come in.
function Pixel({ brand }: { brand: Brand }) {
  const [state, say] = useState("")
  const { busy, failed, run } = useAction()
  const tag = `<script src="${location.origin}/t.js" data-brand="${brand.id}" defer></script>`
  const check = () =>
    run(async () => {
      const day = new Date().toISOString().slice(0, 10)
      const traffic = await send<Traffic>("GET", metrics("ai-traffic", { brand_id: brand.id, date_from: day, date_to: day }))
      say(traffic.total_visits > 0 ? `It works: ${plural(traffic.total_visits, "visit")} counted today.` : "No visit counted today. Open your site with ?utm_source=chatgpt.com at its end, then check again.")
    })
  return (
    <Card name="Pixel" title="In the head of every page of your site: it counts who comes from an AI platform, and nobody else">
      <div class="inside stack">
        <code class="secret">{tag}</code>
        <p class="soft small">Where the collector has an address of its own, put that in place of {location.origin}.</p>
        <div class="line">
          <Button kind="" disabled={busy} onClick={check}>
            Check visits
          </Button>
          <span role="status">{state}</span>
        </div>
        <Problem text={failed} />
      </div>
    </Card>
  )
}

function Delete({ row }: { row: Row }) {
  const [asking, ask] = useState(false)
  const [typed, type] = useState("")
  const remove = async () => {
    await write("DELETE", tables("brands", { id: `eq.${row.id}` }))
    location.assign("/")
  }
  const button = (
    <Button kind="danger" onClick={() => ask(true)}>
      Delete brand
    </Button>
  )
  return (
    <Card name="Delete the brand" title="Its prompts, answers, citations and visits are deleted with it. It cannot be undone" tools={button}>
      {asking && (
        <FormDialog title={`Delete ${row.name}?`} act="Delete" danger can={typed === row.name} onClose={() => ask(false)} onAct={remove}>
          <Field label={`Type ${row.name} to delete it`} value={typed} onInput={type} autoComplete="off" />
        </FormDialog>
      )}
    </Card>
  )
}
