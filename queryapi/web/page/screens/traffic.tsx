import { metrics, useAnswer } from "../api.ts"
import type { Brand, CrawlBucket, Crawlers, Session, SitePages, Traffic as Body } from "../bodies.ts"
import { PlainTable } from "../chart/chart.tsx"
import { Funnel } from "../chart/funnel.tsx"
import type { Series, Slot } from "../chart/marks.ts"
import { Stack } from "../chart/stack.tsx"
import { country, money, none, number, plural } from "../format.ts"
import { Bar } from "../parts/figure.tsx"
import { chosenWindow, compares, screen } from "../parts/filters.tsx"
import { Screen } from "../parts/frame.tsx"
import { platformName } from "../parts/platform.ts"
import { Segments } from "../parts/segments.tsx"
import { Empty, Failed, Shown } from "../parts/state.tsx"
import { Table } from "../parts/table.tsx"
import { Toolbar } from "../parts/toolbar.tsx"
import { query, withParameters } from "../route.ts"
import { answers } from "./drill.ts"
import { type Ask, granularityOf, Visits } from "./visits.tsx"

export function Traffic({ brand, session }: { brand: Brand; session: Session }) {
  const [date_from, date_to, platform] = ["date_from", "date_to", "platform"].map(
    (name) => query.value.get(name) ?? undefined,
  )
  const { from, to } = chosenWindow()
  const granularity = granularityOf(from, to)
  const ask: Ask = (endpoint, more = {}) =>
    metrics(endpoint, { brand_id: brand.id, date_from, date_to, platform, ...more })
  const traffic = useAnswer<Body>(ask("ai-traffic", { granularity, compare: compares() ? "previous" : undefined }))
  const crawlers = useAnswer<Crawlers>(ask("ai-crawlers", { granularity }))
  const platforms = useAnswer<Body>(platform ? ask("ai-traffic", { platform: undefined }) : null)
  const everywhere = platform ? platforms : traffic
  const has = traffic.data && traffic.data.total_visits > 0
  return (
    <Screen
      name="Traffic"
      of={brand.name}
      bar={
        <Toolbar
          brand={brand}
          only={["platform"]}
          platforms={everywhere.data?.platform_breakdown.map((p) => p.platform)}
        />
      }
    >
      {platforms.failure && <Failed message={platforms.failure.message} />}
      <Shown of={traffic} height={359}>
        {(t) =>
          t.total_visits === 0 ? (
            <NoVisits brand={brand} />
          ) : (
            <Visits brand={brand} session={session} traffic={t} ask={ask} />
          )
        }
      </Shown>
      <Way brand={brand} ask={ask} platform={platform} />
      <Shown of={crawlers} height={240}>
        {(c) => <Crawled brand={brand} crawlers={c} granularity={granularity} ask={ask} />}
      </Shown>
      {has && (
        <div class="columns">
          <Visitors brand={brand} traffic={traffic.data!} ask={ask} />
        </div>
      )}
    </Screen>
  )
}

function NoVisits({ brand }: { brand: Brand }) {
  return (
    <Empty title="No visits" next={[screen(brand, "settings"), "Add the pixel"]}>
      No AI platform sent visitors in this window, or the brand's site has no pixel yet: Settings has its snippet, and
      checks whether it works.
    </Empty>
  )
}

const steps = [
  { key: "crawled", name: "Crawled" },
  { key: "cited", name: "Cited" },
  { key: "visited", name: "Visited" },
  { key: "converted", name: "With a goal" },
] as const

const stops = [
  { key: "crawled_never_cited", name: "Crawled, never cited" },
  { key: "cited_never_visited", name: "Cited, never visited" },
] as const

// Way is how far the pages of the site come: what crawlers read, answers cite, people visit, and what they do there.
// Visits of platforms and citations have slugs of their own, so it is of all platforms.
function Way({ brand, ask, platform }: { brand: Brand; ask: Ask; platform?: string }) {
  const step = query.value.get("step") ?? undefined
  const sort_by = query.value.get("sort_by") ?? undefined
  const all = { platform: undefined }
  const whole = useAnswer<SitePages>(ask("ai-pages", all))
  const chosen = useAnswer<SitePages>(step || sort_by ? ask("ai-pages", { ...all, step, sort_by }) : null)
  const pages = step || sort_by ? chosen : whole
  return (
    <>
      <Shown of={whole} height={240}>
        {({ total, steps: reached }) =>
          total > 0 && (
            <Funnel
              name="Way of a page"
              finding={`${plural(total, "page")}: ${number(reached.crawled)} crawled, ${number(reached.cited)} cited, ${number(reached.visited)} visited, ${number(reached.converted)} with a goal`}
              subtitle={`Pages that reach each step, not people${platform ? "; of all platforms" : ""}`}
              unit=""
              steps={steps.map(({ key, name }) => ({
                key,
                name,
                value: reached[key],
                text: plural(reached[key], "page"),
                href: withParameters({ step: step === key ? undefined : key }),
              }))}
              method="Each bar counts pages with at least one crawl, citation, visit or goal. A visited page need not be cited, so no rate leads from one step to the next."
            />
          )
        }
      </Shown>
      <Shown of={pages} height={240}>
        {(p) => <Pages brand={brand} pages={p} steps={p.steps} csv={ask("ai-pages", { ...all, step, sort_by, limit: "200" })} />}
      </Shown>
    </>
  )
}

type Page = SitePages["pages"][number]

// forCrawlers are files that no person opens.
const forCrawlers = (page: Page) => /\/(robots\.txt|sitemap[^/]*\.xml)$/.test(page.page)

interface PagesProps {
  brand: Brand
  pages: SitePages
  steps: SitePages["steps"]
  csv: string
}

function Pages({ brand, pages, steps: reached, csv }: PagesProps) {
  const every = { platform: undefined, model: undefined, region: undefined, topic_id: undefined, branded: undefined }
  const options = [...steps, ...stops].map(({ key, name }) => [key, `${name} ${number(reached[key])}`] as const)
  const shown = pages.pages.filter((page) => !forCrawlers(page))
  const files = pages.pages.filter(forCrawlers)
  const most = (count: keyof Page) => Math.max(...pages.pages.map((page) => Number(page[count])))
  const highest = { crawls: most("crawls"), citations: most("citations"), visits: most("visits"), goals: most("goals") }
  const columns = [
    { name: "Page", long: true, cell: (r: Page) => <a href={answers(brand, { ...every, page: r.page })}>{r.page}</a> },
    { name: "Crawled", number: true, sort: "crawls", cell: (r: Page) => number(r.crawls) },
    { name: "Cited", number: true, sort: "citations", cell: (r: Page) => number(r.citations) },
    { name: "Visits", number: true, sort: "visits", cell: (r: Page) => number(r.visits) },
    { name: "Landings", number: true, cell: (r: Page) => number(r.sessions) },
    { name: "Goals", number: true, sort: "goals", cell: (r: Page) => number(r.goals) },
    { name: "Way", cell: (r: Page) => <Strip page={r} highest={highest} /> },
  ]
  return (
    <Table
      name="Pages"
      title={`${plural(shown.length, "page")} of ${number(pages.total)}. Landings are sessions that began on the page. The way has a cell each for crawled, cited, visited and goals, darker for more on a logarithmic scale.`}
      rows={shown}
      empty={query.value.has("step") ? "No page does." : "No page of the brand's site was crawled, cited or visited. Import an access log with answerscope crawlers import."}
      tools={<Segments name="Step" parameter="step" options={[["", "All"], ...options]} />}
      sorted={{ by: "visits", order: "desc", always: true }}
      columns={columns}
      csv={{ url: csv, file: `${brand.slug}-site-pages.csv` }}
      foot={
        files.length > 0 && (
          <details class="inside">
            <summary>{plural(files.length, "file")} for crawlers</summary>
            <PlainTable
              name="Files for crawlers"
              behind={{
                head: ["File", "Crawled", "Visits"],
                rows: files.map((f) => ({ key: f.page, cells: [number(f.crawls), number(f.visits)] })),
              }}
            />
          </details>
        )
      }
    />
  )
}

// Strip shows which steps a page reaches, darker for more. It repeats the figures beside it.
function Strip({ page, highest }: { page: Page; highest: Record<"crawls" | "citations" | "visits" | "goals", number> }) {
  const shade = (count: keyof typeof highest) =>
    page[count] === 0 ? 0 : 0.25 + (0.75 * Math.log(1 + page[count])) / Math.log(1 + highest[count])
  return (
    <span class="strip" aria-hidden="true">
      {(["crawls", "citations", "visits", "goals"] as const).map((count) => (
        <i key={count}>
          <i style={{ opacity: shade(count) }} />
        </i>
      ))}
    </span>
  )
}

function Visitors({ brand, traffic, ask }: { brand: Brand; traffic: Body; ask: Ask }) {
  const most = Math.max(...traffic.platform_breakdown.map((p) => p.visits))
  const mostOfACountry = Math.max(...traffic.country_breakdown.map((c) => c.visits))
  const csv = (table: string) => ({
    url: ask("ai-traffic", { table }),
    file: `${brand.slug}-${table.replaceAll("_", "-")}.csv`,
  })
  return (
    <>
      <Table
        name="Platforms"
        rows={traffic.platform_breakdown}
        columns={[
          { name: "Platform", cell: (r) => <span title={r.platform}>{platformName(r.platform)}</span> },
          {
            name: "Visits",
            number: true,
            cell: (r) => <Bar value={(100 * r.visits) / most} own text={number(r.visits)} />,
          },
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
          { name: "Value", number: true, cell: (r) => (r.currency ? money(r.value, r.currency) : none) },
        ]}
        csv={csv("goals")}
      />
      <Table
        name="Countries"
        rows={traffic.country_breakdown}
        columns={[
          { name: "Country", cell: (r) => country(r.country) },
          {
            name: "Visits",
            number: true,
            cell: (r) => <Bar value={(100 * r.visits) / mostOfACountry} text={number(r.visits)} />,
          },
        ]}
        csv={csv("country_breakdown")}
      />
    </>
  )
}

const purposes = [
  { key: "training", name: "Training", slot: 3 },
  { key: "search", name: "Search", slot: 1 },
  { key: "user", name: "Asked by a person", slot: 0 },
] as const

interface CrawledProps {
  brand: Brand
  crawlers: Crawlers
  granularity: string
  ask: Ask
}

const proofs = [
  { suffix: "", count: "verified_requests" },
  { suffix: "unchecked", count: "unchecked_requests", outlined: true },
  { suffix: "unverified", count: "unverified_requests", hatched: true },
] as const

// Crawled stacks requests of crawlers by what they are for. Those that only use a crawler's name are hatched.
function Crawled({ brand, crawlers, granularity, ask }: CrawledProps) {
  const buckets = crawlers.buckets ?? []
  const series = purposes.flatMap(({ key, name, slot }): Series[] => {
    const days = buckets.filter((b) => b.purpose === key)
    const parts = proofs.map(({ suffix, count, ...kind }): Series => {
      const part = suffix ? `${key}-${suffix}` : key
      const marks = days.filter((b) => b[count] > 0).map((b) => ({ key: part, x: b.date, y: b[count], notes: errorsOf(b) }))
      return { key: part, name: suffix ? `${name}, ${suffix}` : name, slot: slot as Slot, marks, ...kind }
    })
    return parts.filter((s) => s.marks.length > 0)
  })
  return (
    <div class="stack">
      {crawlers.total_requests > 0 && (
        <Stack
          name={`AI crawlers per ${granularity}`}
          finding={`${plural(crawlers.total_requests, "request")} of AI crawlers`}
          subtitle={`By purpose; ${number(crawlers.verified_requests)} came from addresses that their operators publish, ${number(crawlers.unverified_requests)} from others (hatched), the rest was not checked (outlined)`}
          unit=""
          as="bars"
          weekly={granularity === "week"}
          days={chosenWindow()}
          series={series}
          csv={{ url: ask("ai-crawlers", { granularity, table: "buckets" }), file: `${brand.slug}-crawls.csv` }}
          method="Requests in the site's access logs. Training a model, indexing for later answers, or fetching for a person's question; an error is a status of 400 or above."
        />
      )}
      <Table
        name="AI crawlers"
        title="Who read the site, as its access logs say"
        rows={crawlers.crawler_breakdown}
        empty="No requests of AI crawlers: none came, or no access log was imported. Import one with answerscope crawlers import."
        columns={[
          { name: "Crawler", cell: (r) => r.crawler },
          { name: "Operator", cell: (r) => r.operator },
          { name: "Purpose", cell: (r) => r.purpose },
          { name: "Requests", number: true, cell: (r) => number(r.requests) },
          { name: "Verified", number: true, cell: (r) => number(r.verified_requests) },
        ]}
        csv={{ url: ask("ai-crawlers", { table: "crawler_breakdown" }), file: `${brand.slug}-crawlers.csv` }}
      />
    </div>
  )
}

const errorsOf = (b: CrawlBucket) =>
  b.errors > 0 ? [`${number(b.errors)} of ${number(b.requests)} answered with an error`] : []
