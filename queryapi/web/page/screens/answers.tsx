import { tables, useAnswer } from "../api.ts"
import type { AnswerRow, Answers as Body, Brand, Summary } from "../bodies.ts"
import { number, percent, plural, shortDate } from "../format.ts"
import { bounds, shownOf } from "../parts/figure.tsx"
import { question, screen } from "../parts/filters.tsx"
import { Screen } from "../parts/frame.tsx"
import { Named, Tone } from "../parts/named.tsx"
import { platformName } from "../parts/platform.ts"
import { Shown } from "../parts/state.tsx"
import { Pages, Table } from "../parts/table.tsx"
import { type Filter, Toolbar } from "../parts/toolbar.tsx"
import { Verdict } from "../parts/verdict.tsx"
import { path, query } from "../route.ts"
import { One } from "./answer.tsx"
import { listed, parts } from "./listed.ts"
import { NoAnswers } from "./overview.tsx"

export function Answers({ brand }: { brand: Brand }) {
  const id = path.value.split("/")[4]
  return id ? <One key={id} brand={brand} id={id} /> : <List brand={brand} />
}

function List({ brand }: { brand: Brand }) {
  const answers = useAnswer<Body>(question("answers", brand, { ...listed(), sort: "prompt" }))
  const { cursor } = listed()
  const whole = parts.every((name) => !query.value.has(name))
  const summary = useAnswer<Summary>(whole ? question("visibility-summary", brand) : null)
  const waits = [answers, summary].some((a) => a.loading && !a.data) // all at once, so that nothing moves
  return (
    <Screen
      name="Answers"
      of={brand.name}
      bar={<Toolbar brand={brand} more={useFilters(brand, answers.data?.answers[0]?.prompt_text)} />}
    >
      {!waits && summary.data && <Figures brand={brand} summary={summary.data} />}
      <Shown of={waits ? { loading: true } : answers} height={320}>
        {(page) =>
          page.total === 0 ? (
            <NoAnswers brand={brand} />
          ) : (
            <div class="stack">
              <Table<Group>
                name="Answers"
                title={
                  <>
                    <strong>{plural(page.total, "answer")}</strong>, a row for each prompt and day. A green mark names
                    the brand, its number is the place; with a ring, one of your pages is cited.
                  </>
                }
                rows={groupsOf(page.answers)}
                columns={[
                  {
                    name: "Prompt",
                    long: true,
                    cell: ({ answers: [first] }) => (
                      <a href={screen(brand, `answers/${first.id}`, listed())}>{first.prompt_text}</a>
                    ),
                  },
                  ...platformsOf(page.answers).map((platform) => ({
                    name: platformName(platform, platformsOf(page.answers)),
                    number: true,
                    cell: (group: Group) => (
                      <Marks brand={brand} answers={group.answers.filter((a) => a.platform === platform)} />
                    ),
                  })),
                  { name: "Day (UTC)", tight: true, cell: (group) => shortDate(group.day) },
                  {
                    name: "Where it is named",
                    long: true,
                    cell: (group) => <Excerpt answer={group.answers.find((a) => a.mentioned)} hasAnswers={group.answers.some((a) => a.shown)} />,
                  },
                ]}
                csv={{
                  url: question("answers", brand, { ...listed(), cursor: undefined, limit: "200" }),
                  file: `${brand.slug}-answers.csv`,
                }}
              />
              <Pages parameter="cursor" at={cursor} next={page.next_cursor} />
            </div>
          )
        }
      </Shown>
    </Screen>
  )
}

// useFilters are those of the list alone. prompt is the text of the first answer's.
function useFilters(brand: Brand, prompt?: string): Filter[] {
  const request = tables("competitors", { brand_id: `eq.${brand.id}`, select: "id,name", order: "name" })
  const competitors = useAnswer<{ id: string; name: string }[]>(request).data ?? []
  const id = query.value.get("prompt_id")
  return [
    { name: "mentioned", label: "Brand named", options: either },
    { name: "shown", label: "Overview shown", options: [["all", "or not"], ["false", "no"]] },
    { name: "cited", label: "Brand cited", options: either },
    { name: "sentiment", label: "Sentiment", options: sentiments.map((word) => [word, word] as const) },
    { name: "competitor_id", label: "Names", options: competitors.map(({ id, name }) => [id, name] as const) },
    ...(id ? [{ name: "prompt_id", label: "Prompt", options: [[id, prompt ?? "one"] as const] }] : []),
    { name: "domain", label: "Cites" },
    { name: "url", label: "Cites" },
    { name: "page", label: "Cites" },
    { name: "category", label: "Cites a source of type" },
    { name: "name", label: "Holds" },
    { name: "search", label: "Searched for" },
  ]
}

const either = [
  ["true", "yes"],
  ["false", "no"],
] as const
const sentiments = ["positive", "neutral", "negative", "unknown"]

// Figures are those that the list is behind, where no filter takes away some of their answers.
function Figures({ brand, summary: { totals, window } }: { brand: Brand; summary: Summary }) {
  if (totals.resultCount + totals.notShown === 0) return null
  const share = shownOf(totals)
  return (
    <div class="summary">
      <p>
        Behind the mention rate <b>{percent(totals.mentionRatePct)}</b>{" "}
        <span class="soft">
          ({bounds(totals.mentionRateInterval, "%")}, n = {number(totals.resultCount)})
        </span>{" "}
        and the score <b>{number(totals.aiVisibilityScore)}</b> <span class="soft">({bounds(totals.interval)})</span>
      </p>
      <p>
        {share && (
          <>
            <a href={screen(brand, "answers", { shown: "all" })}>{share}</a>.{" "}
          </>
        )}
        The score: <Verdict change={totals.change} from={window.date_from} rows={1} /> <a href={screen(brand)}>Overview</a>
      </p>
    </div>
  )
}

// A Group has the answers to a prompt on a day.
interface Group {
  day: string
  answers: [AnswerRow, ...AnswerRow[]]
}

// groupsOf joins answers that follow each other.
function groupsOf(answers: AnswerRow[]): Group[] {
  const groups: Group[] = []
  for (const answer of answers) {
    const [day, last] = [answer.answered_at.slice(0, 10), groups[groups.length - 1]]
    if (last?.day === day && last.answers[0].prompt_id === answer.prompt_id) last.answers.push(answer)
    else groups.push({ day, answers: [answer] })
  }
  return groups
}

const platformsOf = (answers: AnswerRow[]) => [...new Set(answers.map((a) => a.platform))].sort()

// Marks has a mark for each answer, by sample.
function Marks({ brand, answers }: { brand: Brand; answers: AnswerRow[] }) {
  return (
    <span class="marks">
      {answers
        .toSorted((a, b) => a.sample - b.sample)
        .map((a) => {
          const text = [
            !a.shown ? "not shown" : a.position === null ? "not named" : `place ${a.position}`,
            a.cited && "your page cited",
            a.sentiment !== "unknown" && a.sentiment,
          ]
            .filter(Boolean)
            .join(", ")
          return (
            <a
              key={a.id}
              class={`mark${a.mentioned ? " named" : ""}${a.cited ? " cited" : ""}`}
              href={screen(brand, `answers/${a.id}`, listed())}
              title={text}
              aria-label={`${platformName(a.platform)}, sample ${a.sample}: ${text}`}
              data-key={a.platform}
              data-x={a.sample}
              data-value={a.position ?? ""}
            >
              {a.shown ? a.position : "–"}
            </a>
          )
        })}
    </span>
  )
}

function Excerpt({ answer, hasAnswers }: { answer?: AnswerRow; hasAnswers: boolean }) {
  if (!answer) return <span class="soft">{hasAnswers ? "not named" : "not shown"}</span>
  return (
    <span class="excerpt">
      <Named answer={answer} /> <Tone sentiment={answer.sentiment} /> {answer.excerpt.replaceAll("**", "")}
    </span>
  )
}
