import { useAnswer } from "../api.ts"
import type { Brand, Citations, Gap, SourceMatrix } from "../bodies.ts"
import { signed } from "../chart/chip.tsx"
import { Dots } from "../chart/dots.tsx"
import { Heat } from "../chart/heat.tsx"
import type { Series } from "../chart/marks.ts"
import { domainOf } from "../chart/scale.ts"
import { Stack } from "../chart/stack.tsx"
import { daysOf, inColumn, number, percent, plural } from "../format.ts"
import { bounds } from "../parts/figure.tsx"
import { chosenWindow, question } from "../parts/filters.tsx"
import { Screen } from "../parts/frame.tsx"
import { Outside } from "../parts/link.tsx"
import { Segments } from "../parts/segments.tsx"
import { Empty, Shown } from "../parts/state.tsx"
import { Table } from "../parts/table.tsx"
import { type Filter, Toolbar } from "../parts/toolbar.tsx"
import { query } from "../route.ts"
import { answers } from "./drill.ts"
import { daysCounted } from "./trend.tsx"

const filters: Filter[] = [
  {
    name: "source_filter",
    label: "Sources",
    options: [
      ["owned", "the brand's own"],
      ["competitor", "competitors'"],
      ["external", "all others"],
    ],
  },
  {
    name: "mentioned",
    label: "Brand named",
    options: [
      ["true", "yes"],
      ["false", "no"],
    ],
  },
]

export function Sources({ brand }: { brand: Brand }) {
  const [source_filter, mentioned] = [query.value.get("source_filter"), query.value.get("mentioned")]
  const { from, to } = chosenWindow()
  const ask = (more: Record<string, string | undefined>) =>
    question("citations", brand, { source_filter: source_filter ?? undefined, ...more })
  const chosen = { mentioned: mentioned ?? undefined }
  const granularity = daysOf(from, to) > 14 ? "week" : "day"
  const cited = useAnswer<Citations>(ask({ ...chosen, granularity, limit: "200" }))
  return (
    <Screen name="Sources" of={brand.name} bar={<Toolbar brand={brand} more={filters} />}>
      <Shown of={cited} height={320}>
        {(body) =>
          body.totals.citations === 0 ? (
            <None />
          ) : (
            <div class="stack">
              <Types
                brand={brand}
                cited={body}
                weekly={granularity === "week"}
                csv={ask({ ...chosen, granularity, table: "buckets" })}
              />
              <Matrix brand={brand} />
              <Unnamed brand={brand} ask={ask} />
              <Lists brand={brand} cited={body} ask={(more) => ask({ ...chosen, ...more })} />
            </div>
          )
        }
      </Shown>
    </Screen>
  )
}

function None() {
  return (
    <Empty title="No citations">
      The answers of this window cite no page that passes these filters. Some platforms list no sources at all.
    </Empty>
  )
}

type Ask = (more: Record<string, string | undefined>) => string

// citing is the address of the answers that cite something, of those that the screen shows.
const citing = (brand: Brand, more: Record<string, string | undefined>) =>
  answers(brand, { mentioned: query.value.get("mentioned") ?? undefined, ...more })

// looks has the types of sources from the bottom of the stack up: the brand's and its competitors' in colour.
const looks: Record<string, Pick<Series, "slot">> = {
  owned: { slot: 0 },
  competitor: { slot: 5 },
  forum: { slot: 13 },
  social: { slot: 12 },
  review: { slot: 11 },
  institutional: { slot: 10 },
  editorial: { slot: 9 },
}

const scales = [
  ["count", "Count"],
  ["share", "Share"],
] as const

// Types draws what kinds of pages are cited, day by day or week by week.
function Types({ brand, cited, weekly, csv }: { brand: Brand; cited: Citations; weekly: boolean; csv: string }) {
  const share = query.value.get("as") === "share"
  const { from, to } = chosenWindow()
  const pct = (category: string) =>
    percent(cited.source_type_breakdown.find((type) => type.category === category)?.citations_pct)
  const { citations, domains, urls, results_with_citations, avg_citations_per_result } = cited.totals
  const series = cited.source_type_breakdown
    .filter((type) => type.citations > 0)
    .map(({ category }) => ({
      key: category,
      name: category,
      ...looks[category]!,
      marks: cited.buckets
        .filter((bucket) => bucket.category === category)
        .map((bucket) => {
          const days = daysCounted(bucket.date, weekly, { date_from: from, date_to: to })
          return {
            key: category,
            x: bucket.date,
            y: share ? bucket.citations_pct : bucket.citations,
            n: bucket.citing_answers ?? undefined,
            href: citing(brand, { category, ...days }),
          }
        }),
    }))
  return (
    <Stack
      name="Source types"
      finding={
        query.value.has("source_filter")
          ? undefined
          : `${pct("owned")} of citations lead to ${brand.name}, ${pct("competitor")} to its competitors`
      }
      subtitle={
        <>
          {plural(citations, "citation")} of {plural(domains, "domain")} and {plural(urls, "page")} in{" "}
          {plural(results_with_citations, "answer")}, {number(avg_citations_per_result)} per answer; counts by{" "}
          {weekly ? "week" : "day"}, without an interval
        </>
      }
      unit={share ? "%" : ""}
      as="bars"
      share={share}
      weekly={weekly}
      days={{ from, to }}
      series={series}
      tools={<Segments name="Scale" parameter="as" options={scales} />}
      csv={{ url: csv, file: `${brand.slug}-source-types.csv` }}
    />
  )
}

// columns is how many competitors the matrix has at most: those that are named most.
const columns = 8

// Matrix shows whom the answers name that cite a domain.
function Matrix({ brand }: { brand: Brand }) {
  const matrix = useAnswer<SourceMatrix>(question("source-matrix", brand, { limit: "20" }))
  return (
    <Shown of={matrix} height={480}>
      {({ domains }) => {
        const entities = domains[0]?.entities.slice(0, 1 + columns) ?? []
        const row = (domain: string) => domains.find((d) => d.domain === domain)!
        return (
          <Heat
            name="Domains and brands"
            finding={reading(domains)}
            subtitle={
              <>
                Share of the answers citing a domain that name the brand or a competitor; outlined: the brand is
                certainly ahead or behind there
                {["source_filter", "mentioned"].some((name) => query.value.has(name)) &&
                  "; of all sources, in answers with and without the brand, whatever is filtered"}
              </>
            }
            unit="%"
            scale="share"
            head="Domain"
            rows={domains.map(({ domain, category }) => ({
              key: domain,
              name: domain,
              own: category === "owned",
              href: answers(brand, { domain }),
            }))}
            columns={entities.map(({ id, name, role }) => ({ key: id, name, own: role === "brand" }))}
            cell={({ key: domain }, { key: id, own }) => {
              const entity = row(domain).entities.find((e) => e.id === id)!
              return {
                key: domain,
                x: entity.name,
                y: entity.mention_rate_pct,
                range: entity.mention_rate_interval,
                n: row(domain).answers,
                certain: entity.gap?.verdict === "ahead" || entity.gap?.verdict === "behind",
                notes: entity.gap ? [sentence(brand, entity.gap)] : undefined,
                href: answers(brand, own ? { domain, mentioned: "true" } : { domain, competitor_id: id }),
              }
            }}
            after={[
              { name: "Answers", cell: ({ key }) => number(row(key).answers) },
              { name: "Of all", cell: ({ key }) => inColumn(row(key).usage_pct) },
            ]}
            csv={{
              url: question("source-matrix", brand, { limit: "100", table: "domains.entities" }),
              file: `${brand.slug}-domains-and-brands.csv`,
            }}
          />
        )
      }}
    </Shown>
  )
}

// reading is the most cited domain where the brand is certainly behind, else the most cited one.
function reading(domains: SourceMatrix["domains"]): string | undefined {
  const behind = domains.find((d) => d.entities.some((e) => e.gap?.verdict === "behind"))
  const { domain, usage_pct, entities } = behind ?? domains[0] ?? {}
  if (!entities) return undefined
  const rival = entities.find((e) => e.gap?.verdict === "behind")
  const named = percent(entities[0]!.mention_rate_pct)
  const start = `${domain} is cited in ${percent(usage_pct)} of answers; they name`
  return rival
    ? `${start} ${rival.name} in ${percent(rival.mention_rate_pct)}, ${entities[0]!.name} in ${named}`
    : `${start} ${entities[0]!.name} in ${named}`
}

function sentence(brand: Brand, { verdict, difference, interval }: Gap): string {
  const place = { ahead: "is ahead", behind: "is behind", level: "is level", too_little_data: "has too little data" }
  return `${brand.name} ${place[verdict]}: ${signed(difference)} points (${bounds(interval)})`
}

// Unnamed compares how often domains are cited in answers with and without the brand.
function Unnamed({ brand, ask }: { brand: Brand; ask: Ask }) {
  const without = useAnswer<Citations>(ask({ mentioned: "false", limit: "200" }))
  const together = useAnswer<Citations>(ask({ mentioned: "true", limit: "200" }))
  const both = {
    data: without.data && together.data && ([without.data, together.data] as const),
    failure: without.failure ?? together.failure,
    loading: without.loading || together.loading,
  }
  return (
    <Shown of={both} height={320}>
      {([body, others]) => {
        const rows = body.top_domains.slice(0, 12).map((d) => ({
          ...d,
          named: others.top_domains.find(({ domain }) => domain === d.domain),
        }))
        const most = rows[0]
        if (!most) return null
        const mark = (d: Citations["top_domains"][0], x: string, mentioned: string) => ({
          key: d.domain,
          x,
          y: d.usage_pct,
          n: d.results_citing,
          href: answers(brand, { domain: d.domain, mentioned }),
        })
        return (
          <Dots
            name="Where the brand is not named"
            finding={`Without ${brand.name}, ${percent(most.usage_pct)} of answers cite ${most.domain}`}
            subtitle={
              <>
                Share of answers that cite a domain. Full: of answers without the brand; hollow: of those that name it;
                counts, without an interval
              </>
            }
            head="Domain"
            columns={["Without the brand", "With it"]}
            rows={rows.map((d) => ({
              key: d.domain,
              name: d.domain,
              own: d.category === "owned",
              slot: d.category === "competitor" ? 5 : undefined,
              now: mark(d, "without the brand", "false"),
              before: d.named && mark(d.named, "with the brand", "true"),
              beside: [inColumn(d.usage_pct), inColumn(d.named?.usage_pct)],
            }))}
            domain={domainOf(
              rows.flatMap((d) => [d.usage_pct ?? 0, d.named?.usage_pct ?? 0]),
              "%",
            )}
            unit="%"
            csv={{
              url: ask({ mentioned: "false", table: "top_domains", limit: "200" }),
              file: `${brand.slug}-not-named.csv`,
            }}
          />
        )
      }}
    </Shown>
  )
}

const kinds = [
  ["true", "Cited"],
  ["false", "Consulted only"],
] as const

// Lists has the domains and pages that are cited, or that platforms only consulted.
function Lists({ brand, cited, ask }: { brand: Brand; cited: Citations; ask: Ask }) {
  const consulted = query.value.get("cited") === "false"
  const other = useAnswer<Citations>(consulted ? ask({ cited: "false", limit: "200" }) : null)
  const times = consulted ? "Times read" : "Citations"
  const tools = <Segments name="Pages shown" parameter="cited" options={kinds} />
  const csv = (table: string) => ask({ cited: consulted ? "false" : undefined, table, limit: "200" })
  const lead = (more: Record<string, string>, text: string) =>
    consulted ? text : <a href={citing(brand, more)}>{text}</a>
  return (
    <Shown of={consulted ? other : { data: cited, loading: false }} height={320}>
      {({ top_domains, top_urls }) => {
        const pages = top_domains
          .slice(0, 5)
          .flatMap(({ domain }) => top_urls.filter((page) => page.domain === domain).slice(0, 5))
        return (
          <div class="stack">
            <Table
              name="Domains"
              title={consulted ? "Read by platforms, but not cited; most often first" : "Most cited first"}
              tools={tools}
              rows={top_domains.slice(0, 30)}
              own={(r) => r.category === "owned"}
              columns={[
                { name: "Domain", long: true, cell: (r) => lead({ domain: r.domain }, r.domain) },
                { name: "Type", cell: (r) => <Kind category={r.category} /> },
                { name: times, number: true, cell: (r) => number(r.total_citations) },
                { name: "In answers", number: true, cell: (r) => inColumn(r.usage_pct) },
              ]}
              csv={{ url: csv("top_domains"), file: `${brand.slug}-domains.csv` }}
            />
            <Table
              name="Pages"
              title="Of each of the first five domains the five that come most often"
              rows={pages}
              own={(r) => r.category === "owned"}
              group={(r) => ({ key: r.domain, title: r.domain })}
              columns={[
                { name: "Page", long: true, cell: (r) => lead({ url: r.url }, r.url) },
                { name: "Title", long: true, cell: (r) => <Outside url={r.url} text={r.title || "open"} /> },
                { name: "Type", cell: (r) => <Kind category={r.category} /> },
                { name: times, number: true, cell: (r) => number(r.total_citations) },
                { name: "In answers", number: true, cell: (r) => inColumn(r.usage_pct) },
              ]}
              csv={{ url: csv("top_urls"), file: `${brand.slug}-pages.csv` }}
            />
          </div>
        )
      }}
    </Shown>
  )
}

function Kind({ category }: { category: string }) {
  const kind = { owned: "tag own", competitor: "tag warn" }[category] ?? "tag"
  return <span class={kind}>{category}</span>
}
