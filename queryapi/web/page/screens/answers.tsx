import { metrics, root, useAnswer } from "../api.ts"
import type { Answer, AnswerRow, Answers as Body, Brand } from "../bodies.ts"
import { number, ordinal, plural, stamp, time } from "../format.ts"
import { Card } from "../parts/card.tsx"
import { chosen, question, screen } from "../parts/filters.tsx"
import { Screen } from "../parts/frame.tsx"
import { Outside } from "../parts/link.tsx"
import { Marked } from "../parts/marked.tsx"
import { Shown } from "../parts/state.tsx"
import { Pages, Table } from "../parts/table.tsx"
import { type Filter, Toolbar } from "../parts/toolbar.tsx"
import { go, path, query, withParameters } from "../route.ts"
import { NotFound } from "./not_found.tsx"
import { NoAnswers } from "./overview.tsx"

// narrowing are the parameters that lead here from a figure, with what each is called.
const narrowing = { prompt_id: "of one prompt", competitor_id: "that name one competitor", domain: "that cite", url: "that cite", page: "that cite", category: "that cite a source of type" }

const either = [["true", "yes"], ["false", "no"]] as const
const filters: Filter[] = [{ name: "mentioned", label: "Brand named", options: either }, { name: "cited", label: "Brand cited", options: either }]

// listed are all parameters of the list.
function listed(): Record<string, string | undefined> {
  const names = ["mentioned", "cited", "cursor", ...Object.keys(narrowing)]
  return Object.fromEntries(names.map((name) => [name, query.value.get(name) ?? undefined]))
}

export function Answers({ brand }: { brand: Brand }) {
  const id = path.value.split("/")[4]
  return id ? <One key={id} brand={brand} id={id} /> : <List brand={brand} />
}

function List({ brand }: { brand: Brand }) {
  const found = useAnswer<Body>(question("answers", brand, listed()))
  const { cursor } = listed()
  return (
    <Screen name="Answers" of={brand.name} bar={<Toolbar brand={brand} more={filters} />}>
      <Narrowed />
      <Shown of={found} height={320}>
        {(page) =>
          page.total === 0 ? (
            <NoAnswers brand={brand} />
          ) : (
            <div class="stack">
              <Table<AnswerRow>
                name="Answers"
                title={<strong>{plural(page.total, "answer")}</strong>}
                rows={page.answers}
                columns={[
                  { name: "Prompt", long: true, cell: (a) => <a href={screen(brand, `answers/${a.id}`, listed())}>{a.prompt_text}</a> },
                  { name: "Platform", tight: true, cell: (a) => a.platform },
                  { name: "Answered (UTC)", tight: true, cell: (a) => stamp(a.answered_at) },
                  { name: "Brand", cell: (a) => <Named answer={a} /> },
                  { name: "Citations", number: true, cell: (a) => number(a.citations_count) },
                  { name: "Text", long: true, cell: (a) => <span class="excerpt">{a.excerpt}</span> },
                ]}
                csv={{ url: question("answers", brand, { ...listed(), cursor: undefined, limit: "200" }), file: `${brand.slug}-answers.csv` }}
              />
              <Pages parameter="cursor" at={cursor} next={page.next_cursor} />
            </div>
          )
        }
      </Shown>
    </Screen>
  )
}

function Named({ answer }: { answer: AnswerRow }) {
  return answer.mentioned ? <span class="tag own">named{answer.position !== null && ` ${ordinal(answer.position)}`}</span> : <span class="tag">not named</span>
}

// Narrowed shows what the list was narrowed by where no field of the filter bar does, to widen it again.
function Narrowed() {
  const narrowed = Object.entries(narrowing).filter(([name]) => query.value.has(name))
  if (narrowed.length === 0) return null
  return (
    <ul class="chips" aria-label="Only answers">
      {narrowed.map(([name, text]) => (
        <li key={name}>
          Only answers {text} {name.endsWith("_id") ? "" : query.value.get(name)}
          <button type="button" aria-label={`All answers, not only those ${text}`} onClick={() => go(withParameters({ [name]: undefined, cursor: undefined }))}>
            ×
          </button>
        </li>
      ))}
    </ul>
  )
}

function One({ brand, id }: { brand: Brand; id: string }) {
  const answer = useAnswer<Answer>(metrics(`answers/${encodeURIComponent(id)}`, { brand_id: brand.id }))
  if (answer.failure?.status === 404 || answer.failure?.status === 400) return <NotFound />
  const back = (
    <a class="button" href={screen(brand, "answers", { ...listed(), ...chosen() })}>
      All answers
    </a>
  )
  return (
    <Screen name="Answers" of={brand.name} bar={<Toolbar brand={brand} only={[]} />} tools={back}>
      <Shown of={answer} height={420}>
        {(a) => <Whole answer={a} />}
      </Shown>
    </Screen>
  )
}

function Whole({ answer }: { answer: Answer }) {
  return (
    <div class="columns answer">
      <article class="card">
        <header>
          <div>
            <h2>{answer.prompt_text}</h2>
            <p>
              {answer.platform}, {time(answer.answered_at)}
            </p>
          </div>
          <Named answer={answer} />
        </header>
        <div class="inside text">
          {answer.mentions_omitted > 0 && <p>Only the first {number(answer.mentions.length)} mentions are marked.</p>}
          <Marked text={answer.text} mentions={answer.mentions} />
        </div>
      </article>
      <div class="stack">
        <About answer={answer} />
        {answer.citations.length > 0 && <Citations of={answer.citations} />}
        {answer.search_queries.length > 0 && (
          <Card name="Searched for">
            <ul class="inside stack">
              {answer.search_queries.map((q) => (
                <li key={q}>{q}</li>
              ))}
            </ul>
          </Card>
        )}
        {answer.products.length > 0 && <Products of={answer.products} />}
      </div>
    </div>
  )
}

function About({ answer }: { answer: Answer }) {
  const mentions = number(answer.mentions.filter((m) => m.role === "brand").length)
  return (
    <section class="card" aria-label="About this answer">
      <dl class="inside parts about">
        <Fact name="Mentions of the brand" value={answer.mentions_omitted > 0 ? `at least ${mentions}` : mentions} />
        <Fact name="Position" value={number(answer.position)} />
        <Fact name="Sentiment" value={answer.sentiment} />
        <Fact name="Model" value={answer.model || "not given"} />
        <Fact name="Served by" value={answer.served_model || "not said"} />
        <Fact name="Region" value={answer.region || "none"} />
        <Fact name="Sample" value={number(answer.sample)} />
        <Fact name="Cost" value={answer.cost === null ? "not known" : `${number(answer.cost)} USD`} />
        {answer.usage && <Fact name="Tokens" value={`${number(answer.usage.input_tokens)} in, ${number(answer.usage.output_tokens)} out`} />}
      </dl>
      <p class="inside">
        <a href={`${root}/v1/answers/${answer.id}`} target="_blank" rel="noopener">
          Raw record
        </a>
      </p>
    </section>
  )
}

function Citations({ of }: { of: Answer["citations"] }) {
  return (
    <Card name="Citations">
      <ol class="inside stack">
        {of.map((c) => (
          <li key={c.url} class="long">
            <Outside url={c.url} text={c.title} />
            <div class="soft small">
              {c.domain} <span class={c.category === "owned" ? "tag own" : "tag"}>{c.category}</span> {c.cited ? "" : "only consulted"}
            </div>
          </li>
        ))}
      </ol>
    </Card>
  )
}

function Products({ of }: { of: Answer["products"] }) {
  return (
    <Card name="Products">
      <ul class="inside stack">
        {of.map((p, i) => (
          <li key={i}>
            {p.product_title} <span class={p.matched_brand_role === "own" ? "tag own" : "tag"}>{p.matched_brand_role}</span>
            <div class="soft small">
              {p.price_amount === null ? "" : `${number(p.price_amount)} ${p.price_currency} `}
              <Outside url={p.merchant_url} text={p.merchant_domain} />
            </div>
          </li>
        ))}
      </ul>
    </Card>
  )
}

function Fact({ name, value }: { name: string; value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  )
}
