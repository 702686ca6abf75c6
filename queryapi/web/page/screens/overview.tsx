import { type Answered, metrics, useAnswer } from "../api.ts"
import type {
  Brand,
  Change,
  Changes,
  Compared,
  Comparison,
  Session,
  Suggestions,
  Summary,
  Totals,
  Trend as TrendBody,
} from "../bodies.ts"
import { Chip } from "../chart/chip.tsx"
import { Dots } from "../chart/dots.tsx"
import type { Mark } from "../chart/marks.ts"
import { Multiples } from "../chart/multiples.tsx"
import { capitalized, inColumn, number, ordinal, percent, plural, shortDate } from "../format.ts"
import { Bar, boundsInColumn, Figure, Part, Parts, shownOf } from "../parts/figure.tsx"
import { question, screen } from "../parts/filters.tsx"
import { Screen } from "../parts/frame.tsx"
import { groupName } from "../parts/platform.ts"
import { Segments } from "../parts/segments.tsx"
import { Empty, Shown, Skeleton } from "../parts/state.tsx"
import { Download, Table, WithN } from "../parts/table.tsx"
import { Notifier, Toolbar } from "../parts/toolbar.tsx"
import { Certainty, leftOut, Verdict } from "../parts/verdict.tsx"
import { go, query, token, withParameters } from "../route.ts"
import { answers, groupFilter, keyOf, ranked, rateMark, weak } from "./drill.ts"
import { chosenMetric, daysCounted, leaderOf, Trend } from "./trend.tsx"

export function Overview({ brand, session }: { brand: Brand; session: Session }) {
  const granularity = chosenGranularity()
  const summary = useAnswer<Summary>(question("visibility-summary", brand))
  const trend = useAnswer<TrendBody>(question("visibility-trend", brand, { granularity }))
  const comparison = useAnswer<Comparison>(question("competitor-comparison", brand))
  const changes = useAnswer<Changes>(question("visibility-changes", brand, judged))
  const next = useAnswer<Suggestions>(token ? null : metrics("suggestions", { brand_id: brand.id, limit: "1" }))
  const by = chosenDimension()
  const groups = useAnswer<Summary>(question("visibility-summary", brand, { group_by: by }))
  const window = summary.data?.window
  const has = summary.data?.totals.resultCount !== 0
  const frame = {
    name: "Overview",
    of: brand.name,
    bar: <Toolbar brand={brand} />,
    tools: !token && <Notifier brand={brand} session={session} />,
  }
  if ([summary, trend, comparison, changes, next].some((a) => a.loading && !a.data)) {
    return (
      <Screen {...frame}>
        <Skeleton height={900} />
      </Screen>
    ) // all at once, so that nothing that is there moves
  }
  return (
    <Screen {...frame}>
      <Shown of={summary} height={200}>
        {(s) =>
          has ? (
            <Headline brand={brand} summary={s} change={changes.data?.change} comparison={comparison.data} />
          ) : (
            <NoAnswers brand={brand} totals={s.totals} />
          )
        }
      </Shown>
      {has && (
        <div class="stack overview">
          {changes.data && <Whys brand={brand} change={changes.data.change} changes={changes.data.changes} />}
          {summary.data && (
            <Tiles brand={brand} totals={summary.data.totals} change={changes.data?.change} comparison={comparison} />
          )}
          <Shown of={trend} height={340}>
            {(t) =>
              window && <Trend brand={brand} session={session} trend={t} window={window} comparison={comparison.data} />
            }
          </Shown>
          {next.data && <Next brand={brand} totals={next.data.totals} />}
        </div>
      )}
      {window && has && (
        <>
          <div class="stack">
            <Groups brand={brand} by={by} summary={groups} window={window} changes={changes.data} />
            <GroupTable brand={brand} by={by} summary={groups} />
          </div>
          <Shown of={comparison}>{(c) => <BesideTheLeader brand={brand} comparison={c} />}</Shown>
          <Shown of={changes}>{(c) => <Moved brand={brand} changes={c} from={window.date_from} />}</Shown>
        </>
      )}
    </Screen>
  )
}

const chosenGranularity = () => (query.value.get("granularity") === "week" ? "week" : undefined)

// Next leads to what the brand may do, if the answers show something.
function Next({ brand, totals }: { brand: Brand; totals: Suggestions["totals"] }) {
  const n = totals.reduce((sum, t) => sum + t.new, 0)
  if (n === 0) return null
  return (
    <p>
      <a href={screen(brand, "opportunities")}>{plural(n, "new opportunity", "new opportunities")}</a>: what the answers say that you can do
    </p>
  )
}

// NoAnswers says what to do about an empty window.
export function NoAnswers({ brand, totals }: { brand: Brand; totals?: Totals }) {
  const share = totals && shownOf(totals)
  return (
    <Empty title="No answers" next={[screen(brand, "tracking"), "Run the prompts"]}>
      {(share ? `An ${share}. ` : "") + "No answers in this window pass these filters. Choose a longer window, or run the brand's prompts."}
    </Empty>
  )
}

interface HeadlineProps {
  brand: Brand
  summary: Summary
  change?: Change // of the rate
  comparison?: Comparison
}

// Headline says in sentences how the brand does, and whether that changed.
function Headline({ brand, summary, change, comparison }: HeadlineProps) {
  const { totals, window } = summary
  const tracking = screen(brand, "tracking")
  const plan = tracking && (
    <>
      {" "}
      <a href={tracking}>Tracking says how many are enough.</a>
    </>
  )
  return (
    <section class="headline" aria-labelledby="headline">
      <h2 id="headline">
        Named in {percent(totals.mentionRatePct)} of {plural(totals.resultCount, "answer")}. {placeOf(comparison)}
      </h2>
      {change && (
        <p class="verdict">
          <Verdict change={change} from={window.date_from} rows={1} plan={plan} />
        </p>
      )}
    </section>
  )
}

const list = new Intl.ListFormat("en-US")

// placeOf is the brand's rank among its competitors, and who leads. A brand that no answer names has no place.
function placeOf(comparison?: Comparison): string | null {
  const leader = leaderOf(comparison)
  if (!leader?.mention_rate_pct) return null
  const { brand, competitors } = comparison!
  const equals = competitors.filter((c) => c.rank === brand.rank).map((c) => c.name)
  const nth = ordinal(brand.rank!)
  const place = equals.length > 0 ? `Shares ${nth} place with ${list.format(equals)}` : `${nth}\u00a0of\u00a0${number(competitors.length + 1)}`
  const leads = leadOf(leader, brand)
  if (!brand.mention_rate_pct) return capitalized(leads) + "."
  return leads ? `${place}; ${leads}.` : place + "."
}

// leadOf says whether the first competitor leads; one with which the brand shares the first place does not.
function leadOf({ name, rank, gap, mention_rate_pct }: Compared, brand: Compared): string {
  const rate = percent(mention_rate_pct)
  if (gap?.verdict === "too_little_data") return "too little data to say who leads"
  if (rank === brand.rank) return ""
  if (rank! > brand.rank!) return `${name} follows with ${rate}`
  return gap?.verdict === "behind" ? `${name} leads with ${rate}` : `${name}, with ${rate}, is not clearly ahead`
}

const filters: Record<string, string> = {
  platform: "platform",
  topic: "topic_id",
  prompt: "prompt_id",
  competitor: "competitor_id",
}

// isApart says whether a platform has no verdict for a reason of its own.
const isApart = (c: Changes["changes"][number]) =>
  c.dimension === "platform" && ["outage", "model_changed"].includes(c.verdict)

interface WhysProps {
  brand: Brand
  change: Change
  changes: Changes["changes"]
}

// Whys are at most three rows that moved, and what the comparison left out.
function Whys({ brand, change, changes }: WhysProps) {
  const href = (c: Changes["changes"][number]) => answers(brand, { [filters[c.dimension]!]: c.key })
  const moved = changes.filter((c) => c.since && !c.unadjusted && c.dimension !== "competitor").slice(0, 3)
  const apart = changes.filter(isApart)
  const rest = leftOut(change)
  if (moved.length + apart.length === 0 && !rest) return null
  return (
    <ul class="whys">
      {moved.map((c) => (
        <li key={c.key}>
          <a href={href(c)}>{groupName(c.dimension, c.key, c.name)}</a> {c.since!.difference > 0 ? "up" : "down"}{" "}
          {plural(Math.abs(c.since!.difference), "point")} since {shortDate(c.since!.day)}
        </li>
      ))}
      {apart.map((c) => (
        <li key={c.key} class="soft">
          <a href={href(c)}>{groupName(c.dimension, c.key, c.name)}</a>: {c.verdict === "outage" ? "an outage" : "its model or its provider changed"}
        </li>
      ))}
      {rest && <li class="soft">{rest}</li>}
    </ul>
  )
}

interface TilesProps {
  brand: Brand
  totals: Summary["totals"]
  change?: Change // of the rate
  comparison: Answered<Comparison>
}

// Tiles are the figures; the name of each puts it into the trend.
function Tiles({ brand, totals, change, comparison }: TilesProps) {
  const chart = (metric: string) => ({
    onShow: () => go(withParameters({ metric: metric === "rate" ? undefined : metric })),
    on: chosenMetric() === metric,
  })
  const named = answers(brand, { mentioned: "true" })
  return (
    <section class="card tiles" aria-label="Figures of visibility">
      <div class="figures">
        <Figure
          name="Mention rate"
          value={percent(totals.mentionRatePct)}
          interval={totals.mentionRateInterval}
          unit="%"
          n={totals.resultCount}
          change={change}
          href={named}
          chart={chart("rate")}
        >
          <Parts>
            <Part name="Answers that name the brand" value={number(totals.mentionAnswers)} href={named} />
            <Part
              name="Prompts where it is seen"
              value={`${number(totals.visiblePrompts)} of ${number(totals.promptCount)}`}
              href={screen(brand, "prompts")}
            />
          </Parts>
        </Figure>
        <Figure
          name="Visibility score"
          value={number(totals.aiVisibilityScore)}
          interval={totals.interval}
          n={totals.resultCount}
          change={totals.change}
          href={answers(brand)}
          chart={chart("score")}
        >
          <Parts>
            <Part name="Named in (weight 60 %)" value={plural(totals.mentionAnswers, "answer")} href={named} />
            <Part
              name="Cited in (weight 25 %)"
              value={plural(totals.citationAnswers, "answer")}
              href={answers(brand, { cited: "true" })}
            />
            <Part name="Position factor (weight 15 %)" value={number(totals.positionFactor)} />
          </Parts>
        </Figure>
        <Shown of={comparison} height={72}>
          {({ share_of_voice: voice, competitors }) =>
            competitors.length > 0 && (
              <Figure
                name="Share of voice"
                value={percent(voice.overall_sov_pct)}
                href={screen(brand, "competitors")}
                chart={chart("voice")}
              >
                <Parts>
                  <Part name="Mentions of the brand" value={number(voice.total_brand_mentions)} href={named} />
                  <Part name="Mentions of competitors" value={number(voice.total_competitor_mentions)} />
                </Parts>
              </Figure>
            )
          }
        </Shown>
      </div>
    </section>
  )
}

const dimensions = { platform: "platform", region: "region", topic: "topic_id", model: "model" } as const
const dimensionNames = Object.keys(dimensions).map((name) => [name, name[0]!.toUpperCase() + name.slice(1)] as const)

const chosenDimension = () =>
  (Object.keys(dimensions) as (keyof typeof dimensions)[]).find((d) => d === query.value.get("by")) ?? "platform"

interface GroupsProps {
  brand: Brand
  by: keyof typeof dimensions
  summary: Answered<Summary>
  window: Summary["window"]
  changes?: Changes
}

// Groups are small trends, by platform or another dimension, each leading to the same screen filtered by it.
function Groups({ brand, by, summary, window, changes }: GroupsProps) {
  const granularity = chosenGranularity()
  const trend = useAnswer<TrendBody>(question("visibility-trend", brand, { group_by: by, granularity }))
  const totals = new Map(summary.data?.groups?.map((g) => [g.key, g.totals]))
  const n = (key: string) => totals.get(key)?.resultCount ?? 0
  const marks = (key: string, { buckets, unanswered }: Pick<TrendBody, "buckets" | "unanswered">, drill: boolean) =>
    [
      ...unanswered.map((b): Mark => ({ key, x: b.date, y: null })),
      ...buckets.map((b): Mark => ({
        key,
        x: b.date,
        y: b.mention_rate_pct,
        range: b.mention_rate_interval,
        n: b.result_count,
        href:
          drill && groupFilter(dimensions[by], key)
            ? answers(brand, { ...daysCounted(b.date, granularity === "week", window), ...groupFilter(dimensions[by], key) })
            : undefined,
      })),
    ].sort((a, b) => String(a.x).localeCompare(String(b.x)))
  return (
    <Shown of={trend} height={200}>
      {({ groups = [], ...all }) => (
        <Multiples
          name={`By ${by}`}
          subtitle="Mention rate on the same axes; grey: all answers"
          unit="%"
          weekly={granularity === "week"}
          days={{ from: window.date_from, to: window.date_to }}
          tools={<Segments name="Dimension of the small trends" parameter="by" options={dimensionNames} />}
          charts={groups
            .toSorted((a, b) => Number(n(a.key) < weak) - Number(n(b.key) < weak) || n(b.key) - n(a.key))
            .map(({ key, name, ...own }) => {
              const change = changes?.changes.find((c) => c.dimension === by && c.key === key)
              const rate = totals.get(key)
              const filter = groupFilter(dimensions[by], key)
              return {
                key,
                title: groupName(by, key, name ?? (key || "not given")),
                href: filter && withParameters(filter),
                rate: rate && inColumn(rate.mentionRatePct),
                chip: (
                  <>
                    {change && <Chip change={change} short />}{" "}
                    {rate && (
                      <span class="soft small">
                        n = {number(rate.resultCount)}
                        {rate.notShown > 0 && ` of ${number(rate.resultCount + rate.notShown)}`}
                      </span>
                    )}
                  </>
                ),
                series: [
                  { key, name: name ?? key, slot: 0 as const, marks: marks(key, own, true) },
                  {
                    key: "all",
                    name: "All answers",
                    slot: 9 as const,
                    quiet: true,
                    marks: marks("all", all, false),
                  },
                ],
              }
            })}
        />
      )}
    </Shown>
  )
}

const mostRows = 5

// BesideTheLeader has the first places, the brand among them, or after them where it is not.
function BesideTheLeader({ brand, comparison }: { brand: Brand; comparison: Comparison }) {
  const first = ranked(comparison)
    .filter((c) => c.rank !== null)
    .slice(0, mostRows)
  const rows = first.includes(comparison.brand) ? first : [...first.slice(0, -1), comparison.brand]
  const all = (
    <a class="button plain tight" href={screen(brand, "competitors")}>
      All competitors
    </a>
  )
  return (
    <Dots
      name="Beside the leader"
      subtitle="Share of the same answers that name each, with its 95 % interval"
      unit="%"
      domain={[0, 100]}
      tools={all}
      columns={["Rate", "You are"]}
      csv={{
        url: question("competitor-comparison", brand, { table: "competitors" }),
        file: `${brand.slug}-competitors.csv`,
      }}
      rows={rows.map((c) => ({
        key: keyOf(brand, c),
        name: c.name,
        own: !c.competitor_id,
        now: rateMark(brand, c, c.name),
        beside: [
          <WithN text={inColumn(c.mention_rate_pct)} beside={boundsInColumn(c.mention_rate_interval)} />,
          c.gap && <Chip change={c.gap} />,
        ],
      }))}
    />
  )
}

// judged are the parameters of what is compared: the share of answers that name the brand.
const judged = { group_by: "platform,topic,prompt,competitor", metric: "mention_rate" }

// Moved has the rows that moved or were taken back, and platforms that were left out; the file has all.
function Moved({ brand, changes, from }: { brand: Brand; changes: Changes; from: string }) {
  const rows = changes.changes.filter((c) => c.since || isApart(c))
  const csv = {
    url: question("visibility-changes", brand, { ...judged, table: "changes" }),
    file: `${brand.slug}-changes.csv`,
  }
  return (
    <Table
      name="What moved"
      title={`Of ${number(changes.changes.length)} platforms, topics, prompts and competitors, by mention rate`}
      rows={rows}
      empty="None of them moved beyond noise, as far as there is data."
      tools={rows.length === 0 && <Download name="What moved" {...csv} />}
      columns={[
        {
          name: "Name",
          long: true,
          cell: (c) => <a href={answers(brand, { [filters[c.dimension]!]: c.key })}>{groupName(c.dimension, c.key, c.name)}</a>,
        },
        { name: "Kind", roomy: true, cell: (c) => c.dimension },
        { name: "Verdict", long: true, cell: (c) => <Verdict change={c} from={from} rows={changes.changes.length} /> },
      ]}
      csv={csv}
      foot={
        <div class="inside">
          <Certainty perLook={changes.false_alarms.guarantee === "per_look"} />
        </div>
      }
    />
  )
}

type Group = NonNullable<Summary["groups"]>[number]

// GroupTable has the figures of the small trends, over the whole window; folded, since their heads have most of them.
function GroupTable({ brand, by, summary }: Pick<GroupsProps, "brand" | "by" | "summary">) {
  const name = Object.fromEntries(dimensionNames)[by]!
  return (
    <Shown of={summary}>
      {({ groups = [] }) => (
        <details class="about">
          <summary>{name}s as a table</summary>
          <Table
            name={`${name}s`}
            title="Where the brand is named"
            rows={groups}
            columns={[
              {
                name,
                cell: (g) => {
                  const filter = groupFilter(dimensions[by], g.key)
                  const text = groupName(by, g.key, g.name ?? (g.key || "not given"))
                  return filter ? <a href={answers(brand, filter)}>{text}</a> : text
                },
              },
              {
                name: "Mention rate",
                number: true,
                cell: (g) => <Bar value={g.totals.mentionRatePct} own text={inColumn(g.totals.mentionRatePct)} />,
              },
              { name: "Interval", number: true, cell: (g) => boundsInColumn(g.totals.mentionRateInterval, "%") },
              {
                name: "Score",
                number: true,
                cell: (g) => <WithN text={inColumn(g.totals.aiVisibilityScore, "")} beside={boundsInColumn(g.totals.interval)} />,
              },
              { name: "n", number: true, cell: (g) => number(g.totals.resultCount) },
              ...(by === "platform" && groups.some((g) => shownOf(g.totals, g.key))
                ? [{ name: "Shown", long: true, cell: (g: Group) => shownOf(g.totals, g.key) }]
                : []),
            ]}
            csv={{
              url: question("visibility-summary", brand, { group_by: by, table: "groups" }),
              file: `${brand.slug}-${by}s.csv`,
            }}
          />
        </details>
      )}
    </Shown>
  )
}
