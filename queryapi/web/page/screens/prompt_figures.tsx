// What answers to prompts say of the brand: which prompts moved, where they name it, and each prompt in figures.
import type { ComponentChildren } from "preact"
import { type Answered, useAnswer } from "../api.ts"
import type { Brand, Change, Changes, Interval, PromptFigures, PromptMatrix, PromptPerformance } from "../bodies.ts"
import { Chip } from "../chart/chip.tsx"
import { Heat } from "../chart/heat.tsx"
import { type Head, type Mark, tooFew } from "../chart/marks.ts"
import { inColumn, number, percent, plural } from "../format.ts"
import { Card } from "../parts/card.tsx"
import { bounds, boundsInColumn } from "../parts/figure.tsx"
import { compares, question } from "../parts/filters.tsx"
import { groupName } from "../parts/platform.ts"
import { Segments } from "../parts/segments.tsx"
import { Failed, Shown } from "../parts/state.tsx"
import { Pages, Table, WithN } from "../parts/table.tsx"
import { Verdict } from "../parts/verdict.tsx"
import { query, withParameters } from "../route.ts"
import { answers, groupFilter, weak } from "./drill.ts"
import { NoAnswers } from "./overview.tsx"
import { Panel } from "./prompt_panel.tsx"

// judged are the parameters of what is compared: the share of answers that name the brand.
const judged = () => (compares() ? { metric: "mention_rate", compare: "previous" } : {})

const parameter = (name: string) => query.value.get(name) ?? undefined
const panel = (prompt: string) => withParameters({ prompt })

// Performance shows children where no prompt has answers.
export function Performance({ brand, children }: { brand: Brand; children: ComponentChildren }) {
  const [by, rows, prompt] = ["by", "rows", "prompt"].map(parameter)
  const answer = useAnswer<PromptMatrix>(question("prompt-matrix", brand, { by, cursor: rows, limit: "200" }))
  const movers = (order: string) => {
    const list = { ...judged(), sort_by: "change", order, limit: "5" }
    return compares() ? question("prompt-performance", brand, list) : null
  }
  const lost = useAnswer<PromptPerformance>(movers("asc"))
  const won = useAnswer<PromptPerformance>(movers("desc"))
  const { metric } = judged()
  const changes = useAnswer<Changes>(
    metric ? question("visibility-changes", brand, { metric, group_by: "prompt" }) : null,
  )
  const waits = [answer, lost, won, changes].some((a) => a.loading && !a.data) // all at once, so that nothing moves
  return (
    <>
      <Shown of={waits ? { loading: true } : answer} height={900}>
        {(matrix) =>
          matrix.rows.length === 0 && !rows ? (
            <div class="stack">
              <NoAnswers brand={brand} />
              {children}
            </div>
          ) : (
            <div class="stack">
              {compares() && <Movers lost={lost} won={won} />}
              {changes.failure && <Failed message={changes.failure.message} />}
              <Places brand={brand} matrix={matrix} changes={changes.data} />
              <Pages name="Pages of prompts" parameter="rows" at={rows} next={matrix.next_cursor} />
              <List brand={brand} />
            </div>
          )
        }
      </Shown>
      {prompt && <Panel key={prompt} brand={brand} prompt={prompt} text={answer.data?.rows.find((r) => r.prompt_id === prompt)?.prompt_text} />}
    </>
  )
}

// Movers shows the prompts that lost or won most, of those that moved.
function Movers({ lost, won }: Record<"lost" | "won", Answered<PromptPerformance>>) {
  return (
    <Shown of={lost} height={96}>
      {(losers) => (
        <Shown of={won} height={96}>
          {(winners) => (
            <MoverLists
              lost={losers.prompts.filter((p) => p.change?.verdict === "moved_down")}
              won={winners.prompts.filter((p) => p.change?.verdict === "moved_up")}
              from={losers.window.dateFrom}
            />
          )}
        </Shown>
      )}
    </Shown>
  )
}

const levels = ({ before, after }: Change) => `${percent(before)} → ${percent(after)}`

function MoverLists({ lost, won, from }: { lost: PromptFigures[]; won: PromptFigures[]; from: string }) {
  const first = lost[0] ?? won[0]
  const finding = first && `“${first.prompt_text}” ${lost[0] ? "lost" : "won"} most: ${levels(first.change!)}`
  return (
    <Card
      name={finding ?? "No prompt moved clearly"}
      title="Movers: prompts that changed against the days before, by the share of answers that name the brand"
    >
      {first && (
        <div class="inside movers">
          <MoverList name="Lost" prompts={lost} from={from} />
          <MoverList name="Won" prompts={won} from={from} />
        </div>
      )}
    </Card>
  )
}

function MoverList({ name, prompts, from }: { name: string; prompts: PromptFigures[]; from: string }) {
  return (
    <section>
      <h3>{name}</h3>
      {prompts.length === 0 && <p class="soft">None.</p>}
      <ol aria-label={name}>
        {prompts.map(({ prompt_id, prompt_text, result_count, change }) => {
          const { difference, interval } = change!.since!
          return (
            <li
              key={prompt_id}
              data-key={prompt_id}
              data-value={difference}
              data-low={interval?.low}
              data-high={interval?.high}
              data-n={result_count}
            >
              <a href={panel(prompt_id)}>{prompt_text}</a>
              <WithN text={levels(change!)} beside={result_count} />
              <Verdict change={{ ...change!, dimension: "prompt" }} from={from} rows={prompts.length} />
            </li>
          )
        })}
      </ol>
    </section>
  )
}

const dimensions = [
  ["platform", "Platform"],
  ["model", "Model"],
  ["region", "Region"],
] as const

interface PlacesProps {
  brand: Brand
  matrix: PromptMatrix
  changes?: Changes
}

// Places shows prompts by platform, model or region.
function Places({ brand, matrix: { by, rows, columns }, changes }: PlacesProps) {
  const moves = new Map(changes?.changes.map((change) => [change.key, change]))
  const prompts = new Map(rows.map((row) => [row.prompt_id, row]))
  const cells = new Map(rows.flatMap((row) => row.cells.map((cell) => [`${row.prompt_id} ${cell.key}`, cell])))
  const branded = `Prompts that name ${brand.name}: these say less`
  const cell = (row: Head, column: Head): Mark => {
    const share = cells.get(`${row.key} ${column.key}`)
    if (!share) return { key: row.key, x: column.key, y: null }
    const filter = groupFilter(by, column.key)
    const href = filter && answers(brand, { prompt_id: row.key, ...filter })
    const range = share.interval ?? tooFew
    return { key: row.key, x: column.key, y: share.rate, range, n: share.n, href }
  }
  const [least] = columns.filter(({ interval, n }) => n >= weak && interval && "low" in interval).sort((a, b) => a.rate - b.rate)
  return (
    <Heat
      name={`Prompts by ${by}`}
      finding={
        least && columns.length > 1
          ? `Named least by ${groupName(by, least.key, least.key || "none")}: in ${percent(least.rate)} of ${plural(least.n, "answer")}`
          : undefined
      }
      subtitle="Share of answers to each prompt that name the brand, lowest first; under 5 answers hatched"
      unit="%"
      head="Prompt"
      rows={rows.map((row) => ({
        key: row.prompt_id,
        name: row.prompt_text,
        href: panel(row.prompt_id),
        group: row.branded ? branded : (row.topic_name ?? "Without topic"),
      }))}
      columns={columns.map(({ key }) => ({ key, name: groupName(by, key, key || "none") }))}
      cell={cell}
      scale="share"
      folded={[branded]}
      after={[
        { name: "All", cell: ({ key }) => <Strip {...prompts.get(key)!} /> },
        ...(changes ? [{ name: "Change", cell: ({ key }: Head) => <Judgement change={moves.get(key)} /> }] : []),
      ]}
      tools={<Segments name="Columns" parameter="by" options={dimensions} drops="rows" />}
      csv={{
        url: question("prompt-matrix", brand, { by, table: "rows.cells", limit: "200" }),
        file: `${brand.slug}-prompts-by-${by}.csv`,
      }}
      method={
        "A cell is 100 × answers that name the brand / answers. Its 95 % interval takes the answers as independent " +
        "(Wilson), from 5 answers on."
      }
    />
  )
}

// Judgement is a verdict; how far the prompt moved stands beside it only if it did.
function Judgement({ change }: { change?: Change | null }) {
  if (!change) return null
  const moved = change.verdict.startsWith("moved_")
  return <Chip change={{ ...change, difference: change.since?.difference ?? null }} short={!moved} />
}

// Strip shows a rate and its interval between 0 and 100.
function Strip({ rate, interval, n }: { rate: number; interval: Interval; n: number }) {
  return (
    <span class="between" title={`${bounds(interval, "%") ?? "too little data"}, n = ${number(n)}`}>
      <span class="track" aria-hidden="true">
        {interval && "low" in interval && (
          <span class="range" style={{ left: `${interval.low}%`, right: `${100 - interval.high}%` }} />
        )}
        <span class="dot" style={{ left: `${rate}%` }} />
      </span>
      <span>{inColumn(rate)}</span>
    </span>
  )
}

// List shows each prompt in figures.
function List({ brand }: { brand: Brand }) {
  const [sort_by = "rate", order, cursor] = ["sort_by", "order", "cursor"].map(parameter)
  const list = { ...judged(), sort_by, order, limit: "100" }
  const figures = useAnswer<PromptPerformance>(question("prompt-performance", brand, { ...list, cursor }))
  return (
    <Shown of={figures} height={240}>
      {({ prompts, next_cursor }) => (
        <div class="stack">
          <Table<PromptFigures>
            name="Performance"
            title="How often answers to each prompt name the brand, and at which place among it and its competitors"
            rows={prompts}
            sorted={{ by: "rate", order: "desc" }}
            columns={[
              { name: "Prompt", long: true, cell: (r) => <a href={panel(r.prompt_id)}>{r.prompt_text}</a> },
              { name: "Mention rate", number: true, sort: "rate", cell: (r) => inColumn(r.mention_rate_pct) },
              {
                name: "95 % interval",
                number: true,
                cell: (r) => boundsInColumn(r.mention_rate_interval, "%") ?? "too little data",
              },
              ...(compares()
                ? [
                    {
                      name: "Change",
                      tight: true,
                      sort: "change",
                      cell: (r: PromptFigures) => <Judgement change={r.change} />,
                    },
                  ]
                : []),
              {
                name: "Named in",
                number: true,
                sort: "appearances",
                cell: (r) => (
                  <a href={answers(brand, { prompt_id: r.prompt_id })}>
                    {`${number(r.appearance_count)} of ${number(r.result_count)}`}
                  </a>
                ),
              },
              { name: "Place", number: true, cell: (r) => inColumn(r.position, "") },
              { name: "Mentions", number: true, sort: "mentions", cell: (r) => number(r.total_mentions) },
              { name: "Citations", number: true, sort: "citations", cell: (r) => number(r.total_citations) },
              { name: "Topic", cell: (r) => r.topic_name ?? "" },
            ]}
            csv={{ url: question("prompt-performance", brand, list), file: `${brand.slug}-prompts.csv` }}
          />
          <Pages parameter="cursor" at={cursor} next={next_cursor} />
        </div>
      )}
    </Shown>
  )
}
