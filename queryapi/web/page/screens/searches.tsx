import { useAnswer } from "../api.ts"
import type { Brand, Fanout } from "../bodies.ts"
import { inColumn, number, plural } from "../format.ts"
import { question, screen } from "../parts/filters.tsx"
import { Screen } from "../parts/frame.tsx"
import { platformName } from "../parts/platform.ts"
import { Empty, Shown } from "../parts/state.tsx"
import { Table } from "../parts/table.tsx"
import { Toolbar } from "../parts/toolbar.tsx"
import { query, withParameters } from "../route.ts"

const few = 25 // rows of a list before all are asked for

// Searches shows what AI platforms search the web for before they answer.
export function Searches({ brand }: { brand: Brand }) {
  const body = useAnswer<Fanout>(question("fanout", brand, { limit: "200" }))
  return (
    <Screen name="Searches" of={brand.name} bar={<Toolbar brand={brand} />}>
      <Shown of={body} height={480}>
        {(fanout) =>
          fanout.totals.searches === 0 ? (
            <Empty title="No searches" next={[screen(brand, "tracking"), "Tracking"]}>
              {fanout.totals.answers === 0 ? "No answers in this window pass these filters." : `None of ${plural(fanout.totals.answers, "answer")} says what was searched for: some platforms do not tell.`}
            </Empty>
          ) : (
            <Lists brand={brand} fanout={fanout} />
          )
        }
      </Shown>
    </Screen>
  )
}

function Lists({ brand, fanout: { totals, queries, words, by_platform } }: { brand: Brand; fanout: Fanout }) {
  const all = query.value.get("all")
  const csv = (table: string) => ({ url: question("fanout", brand, { limit: "200", table }), file: `${brand.slug}-searches-${table}.csv` })
  const part = <R,>(name: string, rows: R[]) => ({
    rows: all === name ? rows : rows.slice(0, few),
    foot: rows.length > few && (
      <div class="inside">
        <a class="button" href={withParameters({ all: all === name ? undefined : name })}>
          {all === name ? `Show the first ${few}` : `Show ${number(rows.length)}`}
        </a>
      </div>
    ),
  })
  const changes = (name: string, table: "added" | "dropped", title: string, empty: string) => (
    <Table
      name={name}
      title={title}
      empty={empty}
      columns={[
        { name: "Word", long: true, cell: (w) => w.word },
        { name: "Searches", number: true, cell: (w) => number(w.searches) },
        { name: "Share", number: true, cell: (w) => inColumn(w.pct) },
      ]}
      csv={csv(`words.${table}`)}
      {...part(name, words[table])}
    />
  )
  const uncovered = queries.filter((q) => !q.covered).length
  return (
    <div class="stack">
      <p>
        {number(totals.searching_answers)} of {plural(totals.answers, "answer")} {totals.searching_answers === 1 ? "says" : "say"} what was searched for: {plural(totals.searches, "search", "searches")}, {number(totals.queries)} different.{" "}
        {uncovered === 0 ? "A prompt asks each" : `No prompt asks ${number(uncovered)}`} of the {number(queries.length)} most frequent.
      </p>
      <Table
        name="Searches"
        title="Most often first. Of the answers that searched for it: how many name you, and cite you"
        columns={[
          { name: "Search", long: true, cell: (q) => q.query },
          ...(uncovered ? [{ name: "Prompt", tight: true, cell: (q: Fanout["queries"][0]) => !q.covered && <span class="tag warn">none asks it</span> }] : []),
          { name: "Answers", number: true, cell: (q) => <a href={screen(brand, "answers", { search: q.query })}>{number(q.answers)}</a> },
          { name: "Prompts", number: true, roomy: true, cell: (q) => number(q.prompts) },
          { name: "Named", number: true, cell: (q) => inColumn(q.mention_rate_pct) },
          { name: "Cited", number: true, roomy: true, cell: (q) => inColumn(q.cites_own_pct) },
          { name: "Platforms", roomy: true, cell: (q) => q.platforms.join(", ") },
        ]}
        csv={csv("queries")}
        {...part("Searches", queries)}
      />
      <div class="columns">
        {changes("Added words", "added", "In searches, and not in the prompt", "Searches add no word to their prompt.")}
        {changes("Dropped words", "dropped", "In the prompt, and not in its searches", "Searches have all words of their prompt.")}
      </div>
      <Table
        name="Platforms"
        rows={by_platform}
        columns={[
          { name: "Platform", cell: (p) => <span title={p.platform}>{platformName(p.platform)}</span> },
          { name: "Answers", number: true, cell: (p) => number(p.answers) },
          { name: "Searching", number: true, cell: (p) => number(p.searching_answers) },
          { name: "Searches an answer", number: true, cell: (p) => number(p.searches_per_answer) },
        ]}
        csv={csv("by_platform")}
      />
    </div>
  )
}
