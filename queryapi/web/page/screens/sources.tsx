import { useAnswer } from "../api.ts"
import type { Brand, Citations } from "../bodies.ts"
import { number, percent } from "../format.ts"
import { Bar, Figure } from "../parts/figure.tsx"
import { question } from "../parts/filters.tsx"
import { Screen } from "../parts/frame.tsx"
import { Outside } from "../parts/link.tsx"
import { Empty, Shown } from "../parts/state.tsx"
import { Table } from "../parts/table.tsx"
import { type Filter, Toolbar } from "../parts/toolbar.tsx"
import { query } from "../route.ts"
import { answers } from "./drill.ts"

// whose are the answers: of those that do not name the brand, the sources are where it is missing.
const filters: Filter[] = [
  { name: "source_filter", label: "Sources", options: [["owned", "the brand's own"], ["competitor", "competitors'"], ["external", "all others"]] },
  { name: "mentioned", label: "Brand named", options: [["true", "yes"], ["false", "no"]] },
]

export function Sources({ brand }: { brand: Brand }) {
  const source_filter = query.value.get("source_filter") ?? undefined
  const mentioned = query.value.get("mentioned") ?? undefined
  const ask = (more: Record<string, string> = {}) => question("citations", brand, { source_filter, mentioned, limit: "30", ...more })
  const all = (table: string) => ask({ table, limit: "200" })
  const citations = useAnswer<Citations>(ask())
  return (
    <Screen name="Sources" of={brand.name} bar={<Toolbar brand={brand} more={filters} />}>
      <Shown of={citations} height={320}>
        {(c) => (c.totals.citations === 0 ? <None /> : <Cited brand={brand} citations={c} mentioned={mentioned} csv={all} />)}
      </Shown>
    </Screen>
  )
}

function None() {
  return (
    <div class="card">
      <Empty title="No citations">The answers of this window cite no page that passes these filters. Some platforms list no sources at all.</Empty>
    </div>
  )
}

interface Props { brand: Brand; citations: Citations; mentioned?: string; csv: (table: string) => string }

function Cited({ brand, citations, mentioned, csv }: Props) {
  const { totals } = citations
  const citing = (more: Record<string, string>) => answers(brand, { mentioned, ...more })
  const types = citations.source_type_breakdown.toSorted((a, b) => b.count - a.count)
  return (
    <div class="stack">
      <section class="card" aria-label="Figures">
        <div class="figures">
          <Figure name="Citations" value={number(totals.citations)}>
            <span class="small soft">in {number(totals.results_with_citations)} answers</span>
          </Figure>
          <Figure name="Domains" value={number(totals.domains)} />
          <Figure name="Pages" value={number(totals.urls)} />
          <Figure name="Citations per answer" value={number(totals.avg_citations_per_result)} />
        </div>
      </section>
      <div class="columns">
        <Table
          name="Source types"
          title="Of what kind the cited domains are"
          rows={types}
          own={(r) => r.category === "owned"}
          columns={[
            { name: "Type", cell: (r) => <a href={citing({ category: r.category })}>{r.category}</a> },
            { name: "Domains", number: true, cell: (r) => number(r.count) },
            { name: "Share of domains", number: true, cell: (r) => <Bar value={r.pct} own={r.category === "owned"} text={percent(r.pct)} /> },
          ]}
          csv={{ url: csv("source_type_breakdown"), file: `${brand.slug}-source-types.csv` }}
        />
        <Table
          name="Domains"
          title="Most cited first"
          rows={citations.top_domains}
          own={(r) => r.category === "owned"}
          columns={[
            { name: "Domain", long: true, cell: (r) => <a href={citing({ domain: r.domain })}>{r.domain}</a> },
            { name: "Type", cell: (r) => <Kind category={r.category} /> },
            { name: "Citations", number: true, cell: (r) => number(r.total_citations) },
            { name: "In answers", number: true, cell: (r) => percent(r.usage_pct) },
          ]}
          csv={{ url: csv("top_domains"), file: `${brand.slug}-domains.csv` }}
        />
      </div>
      <Table
        name="Pages"
        title="Most cited first"
        rows={citations.top_urls}
        own={(r) => r.category === "owned"}
        columns={[
          { name: "Page", long: true, cell: (r) => <a href={citing({ url: r.url })}>{r.url}</a> },
          { name: "Title", long: true, cell: (r) => <Outside url={r.url} text={r.title || "open"} /> },
          { name: "Type", cell: (r) => <Kind category={r.category} /> },
          { name: "Citations", number: true, cell: (r) => number(r.total_citations) },
          { name: "In answers", number: true, cell: (r) => percent(r.usage_pct) },
        ]}
        csv={{ url: csv("top_urls"), file: `${brand.slug}-pages.csv` }}
      />
    </div>
  )
}

function Kind({ category }: { category: string }) {
  return <span class={category === "owned" ? "tag own" : category === "competitor" ? "tag warn" : "tag"}>{category}</span>
}
