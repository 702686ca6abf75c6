import { type Answered, useAnswer } from "../api.ts"
import type { Brand, Bucket, Changes, Compared, Comparison, Summary, Totals, Trend as TrendBody } from "../bodies.ts"
import { Lines } from "../chart/lines.tsx"
import type { Flag } from "../chart/marks.ts"
import { number, percent, plural, shift } from "../format.ts"
import { Card } from "../parts/card.tsx"
import { Bar, bounds, Figure, Part } from "../parts/figure.tsx"
import { FilterBar, question, screen, Window } from "../parts/filters.tsx"
import { Screen } from "../parts/frame.tsx"
import { Empty, Notice, Shown } from "../parts/state.tsx"
import { Download, Table, WithN } from "../parts/table.tsx"
import { Certainty, Verdict } from "../parts/verdict.tsx"
import { query, withParameters } from "../route.ts"
import { answers } from "./drill.ts"

export function Overview({ brand }: { brand: Brand }) {
  const granularity = query.value.get("granularity") === "week" ? "week" : "day"
  const summary = useAnswer<Summary>(question("visibility-summary", brand))
  const trend = useAnswer<TrendBody>(question("visibility-trend", brand, { granularity: granularity === "week" ? "week" : undefined }))
  const comparison = useAnswer<Comparison>(question("competitor-comparison", brand))
  const changes = useAnswer<Changes>(question("visibility-changes", brand, { group_by: rowsOf }))
  return (
    <Screen name="Overview" of={brand.name} tools={<Window />}>
      <FilterBar brand={brand} />
      <Shown of={summary} height={140}>
        {(s) => (s.totals.resultCount === 0 ? <NoAnswers brand={brand} /> : <Headline brand={brand} summary={s} comparison={comparison} changes={changes} />)}
      </Shown>
      {summary.data?.totals.resultCount !== 0 && (
        <Shown of={trend} height={260}>
          {(t) => (
            <Trend brand={brand} trend={t} window={summary.data?.window} />
          )}
        </Shown>
      )}
      {summary.data && summary.data.totals.resultCount > 0 && (
        <>
          <Shown of={changes}>
            {({ changes }) => <Moved brand={brand} changes={changes} from={summary.data!.window.date_from} />}
          </Shown>
          <Platforms brand={brand} />
          <TopCompetitors brand={brand} summary={summary.data} compared={comparison.data?.competitors ?? []} />
        </>
      )}
    </Screen>
  )
}

// Trend draws the rate per day or week, with what to know before a drop is read as one.
function Trend({ brand, trend, window }: { brand: Brand; trend: TrendBody; window?: Summary["window"] }) {
  const weekly = trend.granularity === "week"
  const buckets = trend.buckets.map((bucket) => {
    const days = daysCounted(bucket, weekly, window)
    return { bucket, days, flags: flagsOf(trend, bucket, days) }
  })
  return (
    <Lines
      name="Visibility trend"
      subtitle={`Share of answers that name the brand, by ${weekly ? "week" : "day"}; the band is the 95 % interval`}
      unit="%"
      weekly={weekly}
      tools={<Granularity weekly={weekly} />}
      csv={{ url: question("visibility-trend", brand, { granularity: trend.granularity, table: "buckets" }), file: `${brand.slug}-trend.csv` }}
      flags={buckets.flatMap((b) => b.flags)}
      series={[
        {
          key: brand.id,
          name: brand.name,
          slot: 0,
          marks: buckets.map(({ bucket, days, flags }) => ({
            key: brand.id,
            x: bucket.date,
            y: bucket.mention_rate_pct,
            range: bucket.mention_rate_interval,
            n: bucket.result_count,
            notes: [...flags.map((f) => f.text), ...(bucket.given_up_runs > 0 ? [`${plural(bucket.given_up_runs, "run")} given up`] : [])],
            href: answers(brand, days),
          })),
        },
      ]}
    />
  )
}

// flagsOf are what to know of a bucket before its value is read as the brand's.
function flagsOf(trend: TrendBody, bucket: Bucket, days: { date_from: string; date_to: string }): Flag[] {
  const moved = trend.changes.find((c) => days.date_from <= c.day && c.day <= days.date_to)
  return [
    ...(moved ? [{ day: bucket.date, kind: "moved" as const, text: `the score moved ${moved.direction}` }] : []),
    ...(bucket.model_changed ? [{ day: bucket.date, kind: "model" as const, text: "a platform's model changed" }] : []),
    ...bucket.degraded_platforms.map((platform) => ({ day: bucket.date, kind: "outage" as const, text: `outage of ${platform}` })),
  ]
}

// daysCounted are the days that a bucket counts: the first and the last week may have others, outside the window.
function daysCounted({ date }: Bucket, weekly: boolean, window?: Summary["window"]): { date_from: string; date_to: string } {
  const last = weekly ? shift(date, 6) : date
  return { date_from: window && date < window.date_from ? window.date_from : date, date_to: window && last > window.date_to ? window.date_to : last }
}

function Granularity({ weekly }: { weekly: boolean }) {
  return (
    <nav class="segments" aria-label="Granularity">
      <a href={withParameters({ granularity: undefined })} aria-current={weekly ? undefined : "true"}>
        Days
      </a>
      <a href={withParameters({ granularity: "week" })} aria-current={weekly ? "true" : undefined}>
        Weeks
      </a>
    </nav>
  )
}

// NoAnswers says what to do about an empty window.
export function NoAnswers({ brand }: { brand: Brand }) {
  return (
    <div class="card">
      <Empty
        title="No answers"
        action={
          <a class="button primary" href={screen(brand, "tracking")}>
            Run the prompts
          </a>
        }
      >
        No answers in this window pass these filters. Choose a longer window, or run the brand's prompts.
      </Empty>
    </div>
  )
}

function Headline({ brand, summary, comparison, changes }: { brand: Brand; summary: Summary; comparison: Answered<Comparison>; changes: Answered<Changes> }) {
  const { totals, window } = summary
  return (
    <div class="stack">
      <Degraded platforms={summary.degraded_platforms} />
      <Card name="Did the visibility score move?" title="This window against the days before it, prompt by prompt">
        <div class="inside stack">
          <Verdict change={totals.change} from={window.date_from} plan={<> <a href={screen(brand, "tracking")}>Tracking says how many are enough.</a></>} />
          <Certainty perLook={changes.data?.false_alarms.guarantee === "per_look"} />
        </div>
      </Card>
      <section class="card" aria-label="Figures">
        <div class="figures">
          <Figure name="Visibility rate" value={percent(totals.mentionRatePct)} interval={totals.mentionRateInterval} unit="%" n={totals.resultCount} href={answers(brand, { mentioned: "true" })}>
            <dl class="parts">
              <Part name="Answers that name the brand" value={number(totals.mentionAnswers)} href={answers(brand, { mentioned: "true" })} />
              <Part name="Prompts where it is seen" value={`${number(totals.visiblePrompts)} of ${number(totals.promptCount)}`} href={screen(brand, "prompts")} />
            </dl>
          </Figure>
          <Figure name="Visibility score" value={number(totals.aiVisibilityScore)} interval={totals.interval} n={totals.resultCount} href={answers(brand)}>
            <ScoreParts brand={brand} totals={totals} />
          </Figure>
          <Shown of={comparison} height={80}>
            {(c) => <ShareOfVoice brand={brand} voice={c.share_of_voice} />}
          </Shown>
        </div>
      </section>
    </div>
  )
}

// ScoreParts are what the score is made of, with their weights.
function ScoreParts({ brand, totals }: { brand: Brand; totals: Totals }) {
  return (
    <dl class="parts">
      <Part name="Named in (weight 60 %)" value={plural(totals.mentionAnswers, "answer")} href={answers(brand, { mentioned: "true" })} />
      <Part name="Cited in (weight 25 %)" value={plural(totals.citationAnswers, "answer")} href={answers(brand, { cited: "true" })} />
      <Part name="Position factor (weight 15 %)" value={number(totals.positionFactor)} />
    </dl>
  )
}

function ShareOfVoice({ brand, voice }: { brand: Brand; voice: Comparison["share_of_voice"] }) {
  return (
    <Figure name="Share of voice" value={percent(voice.overall_sov_pct)} href={screen(brand, "competitors")}>
      <dl class="parts">
        <Part name="Mentions of the brand" value={number(voice.total_brand_mentions)} href={answers(brand, { mentioned: "true" })} />
        <Part name="Mentions of competitors" value={number(voice.total_competitor_mentions)} />
      </dl>
    </Figure>
  )
}

// Degraded warns of platforms that gave up over a fifth of their runs.
export function Degraded({ platforms }: { platforms: string[] }) {
  if (platforms.length === 0) return null
  return (
    <Notice>
      <strong>{platforms.join(", ")}</strong> answered fewer than four of five runs in this window: their figures show an outage first. Whether the score moved is judged without the days of the outage.
    </Notice>
  )
}

const rowsOf = "platform,topic,prompt,competitor"

// Moved has the rows that moved, or were left out or taken back; the file has all.
function Moved({ brand, changes, from }: { brand: Brand; changes: Changes["changes"]; from: string }) {
  const filter: Record<string, string> = { platform: "platform", topic: "topic_id", prompt: "prompt_id", competitor: "competitor_id" }
  const rows = changes.filter((c) => c.since || !["within_noise", "too_little_data"].includes(c.verdict))
  const csv = { url: question("visibility-changes", brand, { group_by: rowsOf, table: "changes" }), file: `${brand.slug}-changes.csv` }
  return (
    <Table
      name="What moved"
      title={`Of ${number(changes.length)} platforms, topics, prompts and competitors`}
      rows={rows}
      empty="None of them moved beyond noise, as far as there is data."
      tools={rows.length === 0 && <Download name="What moved" {...csv} />}
      columns={[
        { name: "Name", long: true, cell: (c) => <a href={answers(brand, { [filter[c.dimension]!]: c.key })}>{c.name ?? "a deleted topic"}</a> },
        { name: "Kind", cell: (c) => c.dimension },
        { name: "Verdict", long: true, cell: (c) => <Verdict change={c} from={from} rows={changes.length} /> },
      ]}
      csv={csv}
    />
  )
}

// Platforms say where the brand is strong.
function Platforms({ brand }: { brand: Brand }) {
  const summary = useAnswer<Summary>(question("visibility-summary", brand, { group_by: "platform" }))
  return (
    <Shown of={summary}>
      {({ groups = [] }) => (
        <Table
          name="Platforms"
          title="Where the brand is named"
          rows={groups}
          columns={[
            { name: "Platform", cell: (g) => <a href={answers(brand, { platform: g.key })}>{g.key}</a> },
            { name: "Visibility rate", number: true, cell: (g) => <Bar value={g.totals.mentionRatePct} own text={percent(g.totals.mentionRatePct)} /> },
            { name: "Interval", number: true, cell: (g) => bounds(g.totals.mentionRateInterval, "%") },
            { name: "Score", number: true, cell: (g) => <WithN text={number(g.totals.aiVisibilityScore)} beside={bounds(g.totals.interval)} /> },
            { name: "n", number: true, cell: (g) => number(g.totals.resultCount) },
          ]}
          csv={{ url: question("visibility-summary", brand, { group_by: "platform", table: "groups" }), file: `${brand.slug}-platforms.csv` }}
        />
      )}
    </Shown>
  )
}

// TopCompetitors are the summary's. Their intervals, and the ids that their answers are found by, are the comparison's: it
// may come later.
function TopCompetitors({ brand, summary, compared }: { brand: Brand; summary: Summary; compared: Compared[] }) {
  const rows = summary.topCompetitors.map((c) => ({ ...c, of: compared.find((one) => one.name === c.name) }))
  const all = (
    <a class="button plain tight" href={screen(brand, "competitors")}>
      All competitors
    </a>
  )
  return (
    <Table
      name="Top competitors"
      title="By mentions in these answers"
      rows={rows}
      empty={<>These answers name none. {all}</>}
      tools={all}
      columns={[
        { name: "Competitor", cell: (c) => (c.of ? <a href={answers(brand, { competitor_id: c.of.competitor_id })}>{c.name}</a> : c.name) },
        { name: "Mentions", number: true, cell: (c) => number(c.mentions) },
        { name: "Visibility score", number: true, cell: (c) => <WithN text={number(c.score)} beside={bounds(c.of?.interval ?? null)} /> },
        { name: "n", number: true, cell: () => number(summary.totals.resultCount) },
      ]}
      csv={{ url: question("visibility-summary", brand, { table: "topCompetitors" }), file: `${brand.slug}-top-competitors.csv` }}
    />
  )
}
