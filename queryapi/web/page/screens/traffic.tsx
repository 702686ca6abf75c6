import { metrics, useAnswer } from "../api.ts"
import type { Brand, Crawlers, SitePages, Traffic as Body } from "../bodies.ts"
import { country, number, plural } from "../format.ts"
import { Bar, Figure } from "../parts/figure.tsx"
import { Toolbar } from "../parts/toolbar.tsx"
import { screen } from "../parts/filters.tsx"
import { Screen } from "../parts/frame.tsx"
import { Empty, Failed, Shown } from "../parts/state.tsx"
import { Table } from "../parts/table.tsx"
import { query } from "../route.ts"
import { answers } from "./drill.ts"

export function Traffic({ brand }: { brand: Brand }) {
  const [date_from, date_to, platform] = ["date_from", "date_to", "platform"].map((name) => query.value.get(name) ?? undefined)
  const ask = (endpoint: string, more: Record<string, string | undefined> = {}) => metrics(endpoint, { brand_id: brand.id, date_from, date_to, platform, ...more })
  const traffic = useAnswer<Body>(ask("ai-traffic"))
  const crawlers = useAnswer<Crawlers>(ask("ai-crawlers"))
  const pages = useAnswer<SitePages>(ask("ai-pages", { platform: undefined }))
  const ofAll = useAnswer<Body>(platform ? ask("ai-traffic", { platform: undefined }) : null)
  const everywhere = platform ? ofAll : traffic
  return (
    <Screen name="Traffic" of={brand.name} bar={<Toolbar brand={brand} only={["platform"]} platforms={everywhere.data?.platform_breakdown.map((p) => p.platform)} />}>
      {ofAll.failure && <Failed message={ofAll.failure.message} />}
      <Shown of={traffic} height={240}>
        {(t) => (t.total_visits === 0 ? <NoVisits brand={brand} /> : <Visits traffic={t} />)}
      </Shown>
      <Shown of={pages} height={240}>
        {(p) => <Pages brand={brand} pages={p} csv={ask("ai-pages", { platform: undefined, limit: "200" })} platform={platform} />}
      </Shown>
      <div class="columns">
        {traffic.data && traffic.data.total_visits > 0 && <Visitors brand={brand} traffic={traffic.data} ask={ask} />}
        <Shown of={crawlers}>{(c) => <Crawled brand={brand} crawlers={c} ask={ask} />}</Shown>
      </div>
    </Screen>
  )
}

function NoVisits({ brand }: { brand: Brand }) {
  return (
    <div class="card">
      <Empty
        title="No visits"
        action={
          <a class="button" href={screen(brand, "settings")}>
            Add the pixel
          </a>
        }
      >
        No AI platform sent visitors in this window, or the brand's site has no pixel yet.
      </Empty>
    </div>
  )
}

function Visits({ traffic }: { traffic: Body }) {
  return (
    <section class="card" aria-label="Figures">
      <div class="figures">
        <Figure name="Visits from AI platforms" value={number(traffic.total_visits)} />
        <Figure name="Sessions" value={number(traffic.sessions)} />
      </div>
    </section>
  )
}

// Pages is how far each page of the site comes: what crawlers read, answers cite, people visit, and what they do there.
function Pages({ brand, pages, csv, platform }: { brand: Brand; pages: SitePages; csv: string; platform?: string }) {
  const whatever = { platform: undefined, model: undefined, region: undefined, topic_id: undefined, branded: undefined }
  return (
    <Table
      name="Pages"
      title={`Crawled, cited, visited, converted${platform ? ", of all platforms" : ""}: ${plural(pages.pages.length, "page")} of ${number(pages.total)}, the most visited first`}
      rows={pages.pages}
      empty="No page of the brand's site was crawled, cited or visited."
      columns={[
        { name: "Page", long: true, cell: (r) => <a href={answers(brand, { ...whatever, page: r.page })}>{r.page}</a> },
        { name: "Crawled", number: true, cell: (r) => number(r.crawls) },
        { name: "Cited", number: true, cell: (r) => number(r.citations) },
        { name: "Visits", number: true, cell: (r) => number(r.visits) },
        { name: "Sessions", number: true, cell: (r) => number(r.sessions) },
        { name: "Goals", number: true, cell: (r) => number(r.goals) },
      ]}
      csv={{ url: csv, file: `${brand.slug}-site-pages.csv` }}
    />
  )
}

type Ask = (endpoint: string, more?: Record<string, string | undefined>) => string

function Visitors({ brand, traffic, ask }: { brand: Brand; traffic: Body; ask: Ask }) {
  const most = Math.max(...traffic.platform_breakdown.map((p) => p.visits))
  const csv = (table: string) => ({ url: ask("ai-traffic", { table }), file: `${brand.slug}-${table.replaceAll("_", "-")}.csv` })
  return (
    <>
      <Table
        name="Platforms"
        rows={traffic.platform_breakdown}
        columns={[
          { name: "Platform", cell: (r) => r.platform },
          { name: "Visits", number: true, cell: (r) => <Bar value={(100 * r.visits) / most} own text={number(r.visits)} /> },
        ]}
        csv={csv("platform_breakdown")}
      />
      <Table
        name="Goals"
        title="What those visitors did"
        rows={traffic.goals}
        empty="No goal was reached. The pixel reports them."
        columns={[
          { name: "Goal", cell: (r) => r.name },
          { name: "Reached", number: true, cell: (r) => number(r.count) },
          { name: "Value", number: true, cell: (r) => (r.currency ? `${number(r.value)} ${r.currency}` : "–") },
        ]}
        csv={csv("goals")}
      />
      <Table
        name="Countries"
        rows={traffic.country_breakdown}
        columns={[
          { name: "Country", cell: (r) => country(r.country) },
          { name: "Visits", number: true, cell: (r) => number(r.visits) },
        ]}
        csv={csv("country_breakdown")}
      />
    </>
  )
}

function Crawled({ brand, crawlers, ask }: { brand: Brand; crawlers: Crawlers; ask: Ask }) {
  return (
    <Table
      name="AI crawlers"
      title="Who read the site, as its access logs say"
      rows={crawlers.crawler_breakdown}
      empty="No requests of AI crawlers: none came, or no access log was imported."
      columns={[
        { name: "Crawler", cell: (r) => r.crawler },
        { name: "Operator", cell: (r) => r.operator },
        { name: "Purpose", cell: (r) => r.purpose },
        { name: "Requests", number: true, cell: (r) => number(r.requests) },
        { name: "Verified", number: true, cell: (r) => number(r.verified_requests) },
      ]}
      csv={{ url: ask("ai-crawlers", { table: "crawler_breakdown" }), file: `${brand.slug}-crawlers.csv` }}
    />
  )
}
