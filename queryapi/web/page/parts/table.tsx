import type { ComponentChildren, RefObject } from "preact"
import { useContext, useRef, useState } from "preact/hooks"
import { asCSV, send } from "../api.ts"
import { number } from "../format.ts"
import { go, query, withParameters } from "../route.ts"
import { Head } from "./card.tsx"
import { Chapter } from "./chapter.ts"
import { Button, useAction } from "./form.tsx"

// changes is the header of a column of buttons, which is no part of a download.
export const changes = "Change"

export interface Column<R> {
  name: string
  cell: (row: R) => ComponentChildren
  number?: boolean // right-aligned
  tight?: boolean // on one line
  long?: boolean // takes the room that is left
  roomy?: boolean // left out on a phone
  sort?: string // the API's sort_by, where its header sorts
}

interface Props<R> {
  name: string // of the table
  columns: Column<R>[]
  rows: R[]
  own?: (row: R) => boolean // the brand's own row
  group?: (row: R) => { key: string; title: ComponentChildren } // rows of one key stand together, under its title
  csv?: { url: string; file: string } // where all its rows are; without, what is shown is saved
  sorted?: { by: string; order: "asc" | "desc"; always?: boolean } // what the API sorts by where the address says nothing
  title?: ComponentChildren // above it; without, the name is
  empty?: ComponentChildren
  tools?: ComponentChildren
  foot?: ComponentChildren // below it, such as the form that adds a row
}

// Table has in each row's first cell its name, and nothing else.
export function Table<R>({ name, columns, rows, own, group, csv, sorted, title, empty, tools, foot }: Props<R>) {
  const table = useRef<HTMLTableElement>(null)
  const chapter = useContext(Chapter)
  const groups: R[][] = []
  for (const row of rows) {
    const last = groups.at(-1)
    if (last && group?.(row).key === group?.(last[0]!).key) last.push(row)
    else groups.push([row])
  }
  return (
    <section class="card">
      <Head
        name={name}
        title={title}
        tools={
          <>
            {tools}
            {rows.length > 0 && <Download name={name} file={csv?.file ?? `${name.toLowerCase().replaceAll(" ", "-")}.csv`} url={csv?.url} table={table} />}
          </>
        }
      />
      {rows.length === 0 ? (
        <div class="inside soft">{empty ?? "None."}</div>
      ) : (
        <div class="scroll" tabIndex={0} role="region" aria-label={`${chapter} ${name}, scrollable`.trim()}>
          <table aria-label={name} ref={table}>
            <thead>
              <tr>
                {columns.map((column) => (
                  <Header key={column.name} column={column} sorted={chapter ? undefined : sorted} />
                ))}
              </tr>
            </thead>
            {groups.map((members, i) => (
              <tbody key={i}>
                {group && (
                  <tr class="group">
                    <th scope="rowgroup" colSpan={columns.length}>
                      {group(members[0]!).title}
                    </th>
                  </tr>
                )}
                {members.map((row, j) => (
                  <tr key={j} class={own?.(row) ? "own" : ""}>
                    {columns.map((column, k) => {
                      const Cell = k === 0 ? "th" : "td"
                      return (
                        <Cell key={k} scope={k === 0 ? "row" : undefined} class={kindOf(column)}>
                          {column.cell(row)}
                        </Cell>
                      )
                    })}
                  </tr>
                ))}
              </tbody>
            ))}
          </table>
        </div>
      )}
      {foot}
    </section>
  )
}

function kindOf<R>(column: Column<R>): string {
  return ["number", "long", "tight", "roomy"].filter((kind) => column[kind as keyof Column<R>]).join(" ")
}

function Header<R>({ column, sorted }: { column: Column<R>; sorted?: Props<R>["sorted"] }) {
  const kind = kindOf(column)
  if (!column.sort || !sorted) {
    return (
      <th scope="col" class={kind}>
        {column.name}
      </th>
    )
  }
  const by = query.value.get("sort_by") ?? sorted.by
  const order = (!sorted.always && query.value.get("order")) || sorted.order // always: the API knows no other
  const active = by === column.sort
  const next = sorted.always ? undefined : active && order === "desc" ? "asc" : "desc"
  return (
    <th scope="col" class={kind} aria-sort={active ? (order === "desc" ? "descending" : "ascending") : undefined}>
      <button type="button" onClick={() => go(withParameters({ sort_by: column.sort, order: next, cursor: undefined }))}>
        {column.name}
        <span aria-hidden="true">{active ? (order === "desc" ? "↓" : "↑") : ""}</span>
      </button>
    </th>
  )
}

// Download saves an address as a file of comma-separated values; without an address, the table that is shown.
export function Download({ name, file, url, table }: { name: string; file: string; url?: string; table?: RefObject<HTMLTableElement | null> }) {
  const { failed, run } = useAction()
  const [cut, setCut] = useState(false)
  const save = async () => {
    const { text, more } = !url ? { text: shownAsCSV(table!.current!), more: false } : await (url.includes("/rest/") ? rowsAsCSV(url) : asCSV(url))
    setCut(more)
    store(new Blob([text], { type: "text/csv;charset=utf-8" }), file)
  }
  return (
    <>
      <Button onClick={() => run(save)} aria-label={`Download CSV: ${name}`}>
        CSV
      </Button>
      {failed && <span role="alert">{failed}</span>}
      {cut && <span role="status">The file has the first rows only: choose a shorter window, or ask the API for the rest.</span>}
    </>
  )
}

// Downloads have the form of the API (docs/api.md, CSV): a text that a spreadsheet takes for a formula is quoted.
const quoted = (value: string) => `"${value.replaceAll('"', '""')}"`
const asText = (value: string) => quoted(value.replace(/^(?=[=+@-])/, "'"))
const linesOf = (rows: string[][]) => rows.map((cells) => cells.join(",") + "\r\n").join("")

// shownAsCSV is a table as it is shown, but for its buttons.
function shownAsCSV(table: HTMLTableElement): string {
  const text = (cell: HTMLTableCellElement) => cell.querySelector("select")?.value ?? [...cell.childNodes].filter((node) => node.nodeName !== "BUTTON").map((node) => node.textContent).join("")
  const kept = [...table.rows[0]!.cells].map((header) => header.textContent !== changes)
  return linesOf([...table.rows].map((row) => [...row.cells].filter((_, i) => kept[i]).map((cell) => asText(text(cell)))))
}

// rowsAsCSV asks for rows of /rest/v1, whose own CSV is PostgreSQL's: not safe in a spreadsheet.
async function rowsAsCSV(url: string): Promise<{ text: string; more: boolean }> {
  const rows = await send<Record<string, unknown>[]>("GET", url)
  return { text: linesOf([Object.keys(rows[0] ?? {}).map(quoted), ...rows.map((row) => Object.values(row).map(cellOf))]), more: false }
}

// cellOf is empty for null, a list is one cell, an object is JSON.
function cellOf(value: unknown): string {
  if (value === null) return ""
  if (typeof value === "string") return asText(value)
  return Array.isArray(value) ? asText(value.join(", ")) : quoted(JSON.stringify(value))
}

export function store(blob: Blob, file: string): void {
  const link = document.createElement("a")
  link.href = URL.createObjectURL(blob)
  link.download = file
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 1000)
}

// Pages leads from a page of a list to the next one, and back to the first; each is an address.
export function Pages({ name = "Pages", parameter, at, next }: { name?: string; parameter: string; at?: string; next?: string | null }) {
  return (
    <nav class="line" aria-label={name}>
      {at && (
        <a class="button" href={withParameters({ [parameter]: undefined })}>
          First page
        </a>
      )}
      {next && (
        <a class="button" href={withParameters({ [parameter]: next })}>
          Next page
        </a>
      )}
    </nav>
  )
}

// WithN is a figure with its n, or its interval, in small print.
export function WithN({ text, beside }: { text: string; beside: string | number | null }) {
  return (
    <>
      {text} {beside !== null && <span class="with-n">{typeof beside === "number" ? `n = ${number(beside)}` : beside}</span>}
    </>
  )
}
