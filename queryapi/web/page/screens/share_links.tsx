import { useRef, useState } from "preact/hooks"
import { root, tables, useAnswer, write } from "../api.ts"
import type { Brand, Session } from "../bodies.ts"
import { date, plural, shift, time, today } from "../format.ts"
import { Confirm, FormDialog, Once } from "../parts/dialog.tsx"
import { Button, Field, Select } from "../parts/form.tsx"
import { chosen } from "../parts/filters.tsx"
import { Shown } from "../parts/state.tsx"
import { changes, Table } from "../parts/table.tsx"
import { windowText } from "../parts/toolbar.tsx"
import { path } from "../route.ts"
import { mayManage, shareable } from "../session.ts"
import { screens } from "./list.ts"

interface Props { brand: Brand; onClose: () => void }

const boxes = screens.map((s) => ({ name: s.name, key: s.path || "overview" })).filter((s) => shareable.includes(s.key))

// ShareDialog makes a link to the present screen and others, and shows its address, this once.
export function ShareDialog({ brand, onClose }: Props) {
  const [url, show] = useState("")
  const made = useRef(false)
  const finish = (address: string) => {
    made.current = true
    show(address)
  }
  if (!url) return <MakeLink brand={brand} onMade={finish} onClose={() => made.current || onClose()} />
  return (
    <Once title="The link" text={url} onClose={onClose}>
      Whoever has it sees these screens of {brand.name}, until you revoke it in Settings.
    </Once>
  )
}

const ends = [["30", "In 30 days"], ["90", "In 90 days"], ["365", "In a year"], ["", "Never"]] as const

function MakeLink({ brand, onMade, onClose }: Props & { onMade: (url: string) => void }) {
  const here = path.value.split("/")[3] || "overview"
  const [title, setTitle] = useState(brand.name)
  const [names, setNames] = useState(boxes.map((s) => s.key).filter((key) => key === here || ["overview", "competitors", "sources"].includes(key)))
  const { date_from, date_to, ...filters } = Object.fromEntries(Object.entries(chosen()).filter(([, value]) => value))
  const [fix, setFix] = useState(true)
  const [days, setDays] = useState("")
  const [end, setEnd] = useState("90")
  const [password, setPassword] = useState("")
  const [origins, setOrigins] = useState("")
  const window = days === "now" ? { date_from, date_to } : days ? { last_days: Number(days) } : {}
  const make = async () => {
    const { url } = await write<{ url: string }>("POST", `${root}/shares`, {
      brand_id: brand.id,
      title,
      screens: names,
      filters: { ...(fix && filters), ...window },
      embed_origins: origins.split(/[\s,]+/).filter(Boolean),
      expires_at: end ? `${shift(today(), Number(end))}T23:59:59Z` : null,
      password,
    })
    onMade(url!)
  }
  return (
    <FormDialog title={`Share ${brand.name}`} act="Create link" can={names.length > 0} onClose={onClose} onAct={make}>
      <Field label="Title" value={title} onInput={setTitle} required />
      <fieldset class="plain line">
        <legend>Screens</legend>
        {boxes.map(({ key, name }) => (
          <label key={key} class="check">
            <input type="checkbox" checked={names.includes(key)} onInput={() => setNames(names.includes(key) ? names.filter((n) => n !== key) : [...names, key])} /> {name}
          </label>
        ))}
      </fieldset>
      {Object.keys(filters).length > 0 && (
        <label class="check">
          <input type="checkbox" checked={fix} onInput={() => setFix(!fix)} /> Only with the filters that are set now: {Object.values(filters).join(", ")}
        </label>
      )}
      <div class="line">
        <Select label="Days" value={days} onInput={setDays}>
          <option value="">The viewer chooses</option>
          {[7, 28, 30, 90].map((n) => (
            <option key={n} value={n}>{`The last ${n}`}</option>
          ))}
          {date_from && date_to && <option value="now">{windowText()}</option>}
        </Select>
        <Select label="Ends" value={end} onInput={setEnd}>
          {ends.map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </Select>
      </div>
      <Field label="Link password" type="password" autoComplete="new-password" value={password} onInput={setPassword} hint="Optional. It cannot be read back." />
      <Field label="Sites that may embed it" value={origins} onInput={setOrigins} hint="Optional, such as https://example.com. Not with a password." />
    </FormDialog>
  )
}

interface Row { id: string; title: string; screens: string[]; has_password: boolean; embed_origins: string[]; created_by: string | null; created_at: string; expires_at: string | null; revoked_at: string | null; last_used_at: string | null }

const working = (row: Row) => !row.revoked_at && !(row.expires_at && new Date(row.expires_at) < new Date())

// ShareLinks lists the links to a brand. Members revoke their own, admins all.
export function ShareLinks({ brand, session }: { brand: Brand; session: Session }) {
  const [revoked, revoke] = useState<Row>()
  const links = useAnswer<Row[]>(tables("share_links", { brand_id: `eq.${brand.id}`, order: "created_at.desc" }))
  return (
    <>
      <Shown of={links} height={120}>
        {(rows) => (
          <Table<Row>
            name="Share links"
            title={`Who has one sees screens of the brand without an account; ${plural(rows.filter(working).length, "link works", "links work")}, of 50`}
            rows={rows}
            empty="None yet: Share, on a screen of the brand, makes one."
            columns={[
              { name: "Title", long: true, cell: (r) => r.title },
              { name: "Screens", long: true, cell: (r) => r.screens.join(", ") + (r.has_password ? "; with a password" : "") + (r.embed_origins.length > 0 ? `; in ${r.embed_origins.join(", ")}` : "") },
              { name: "Created", tight: true, cell: (r) => date(r.created_at) },
              { name: "Last used", tight: true, cell: (r) => time(r.last_used_at) },
              { name: "State", tight: true, cell: (r) => (working(r) ? (r.expires_at ? `until ${date(r.expires_at)}` : "for good") : <span class="soft">{r.revoked_at ? `revoked ${date(r.revoked_at)}` : "expired"}</span>) },
              {
                name: changes,
                number: true,
                cell: (r) =>
                  working(r) &&
                  (mayManage(session) || r.created_by === session.userId) && (
                    <Button kind="danger tight" aria-label={`Revoke ${r.title}`} onClick={() => revoke(r)}>
                      Revoke
                    </Button>
                  ),
              },
            ]}
          />
        )}
      </Shown>
      {revoked && (
        <Confirm title={`Revoke ${revoked.title}?`} act="Revoke" onClose={() => revoke(undefined)} onAct={() => write("DELETE", `${root}/shares/${revoked.id}`)}>
          Whoever has the link sees nothing any more, from now on. It cannot be undone.
        </Confirm>
      )}
    </>
  )
}
