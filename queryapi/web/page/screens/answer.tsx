import { useMemo } from "preact/hooks"
import { metrics, root, useAnswer } from "../api.ts"
import type { Answer, AnswerRow, Answers, Brand } from "../bodies.ts"
import { number, ordinal, plural, shift, time } from "../format.ts"
import { Card, Head } from "../parts/card.tsx"
import { Diff } from "../parts/diff.tsx"
import { chosen, screen } from "../parts/filters.tsx"
import { Screen } from "../parts/frame.tsx"
import { Outside } from "../parts/link.tsx"
import { longest, renderMarkdown } from "../parts/markdown.tsx"
import { Marked } from "../parts/marked.tsx"
import { Named, Tone } from "../parts/named.tsx"
import { platformName } from "../parts/platform.ts"
import { Segments } from "../parts/segments.tsx"
import { Shown } from "../parts/state.tsx"
import { Toolbar } from "../parts/toolbar.tsx"
import { query, token } from "../route.ts"
import { listed } from "./listed.ts"
import { NotFound } from "./not_found.tsx"

// One is an answer, or two side by side.
export function One({ brand, id }: { brand: Brand; id: string }) {
  const other = query.value.get("with")
  const address = (id: string | null) => id && metrics(`answers/${encodeURIComponent(id)}`, { brand_id: brand.id })
  const answer = useAnswer<Answer>(address(id))
  const compared = useAnswer<Answer>(address(other))
  const failure = answer.failure ?? compared.failure
  if (failure?.status === 404 || failure?.status === 400) return <NotFound />
  const back = (
    <a class="button" href={screen(brand, other ? `answers/${id}` : "answers", { ...listed(), ...chosen() })}>
      {other ? "One answer" : "All answers"}
    </a>
  )
  return (
    <Screen name="Answers" of={brand.name} bar={<Toolbar brand={brand} only={[]} />} tools={back}>
      <Shown of={answer} height={420}>
        {(a) =>
          !other ? (
            <Whole brand={brand} answer={a} />
          ) : (
            <Shown of={compared} height={420}>
              {(b) => <Pair brand={brand} answers={[a, b]} />}
            </Shown>
          )
        }
      </Shown>
    </Screen>
  )
}

// Others to the same question are looked for so many days before and after an answer; of hourly schedules, where these
// have too many, in fewer days.
const [near, nearest] = [45, 3]

// Around leads to the answers before and after to the same question: prompt, platform, model, region and sample.
function Around({ brand, answer }: { brand: Brand; answer: Answer }) {
  const { prompt_id, platform, model, region, sample, answered_at } = answer
  const same = { prompt_id, platform, model, region: region || "none", sample: String(sample), shown: "all", limit: "200" }
  const day = answered_at.slice(0, 10)
  const address = (days: number) =>
    metrics("answers", { brand_id: brand.id, ...same, date_from: shift(day, -days), date_to: shift(day, days) })
  const many = useAnswer<Answers>(address(near)).data
  const cut = many?.next_cursor && !many.answers.slice(0, -1).some((a) => a.id === answer.id)
  const few = useAnswer<Answers>(cut ? address(nearest) : null).data
  const { answers = [] } = (cut ? few : many) ?? {}
  const at = answers.findIndex((a) => a.id === answer.id)
  const [later, earlier] = at < 0 ? [] : [answers[at - 1], answers[at + 1]]
  const link = (a: AnswerRow | undefined, text: string) =>
    a && (
      <a class="button tight" href={screen(brand, `answers/${a.id}`, listed())} title={time(a.answered_at)}>
        {text}
      </a>
    )
  return (
    <nav class="line" aria-label="The same question">
      {link(earlier, "‹ Earlier")}
      {link(later, "Later ›")}
      {earlier && (
        <a class="button tight" href={screen(brand, `answers/${answer.id}`, { ...listed(), with: earlier.id })}>
          Compare with the earlier one
        </a>
      )}
    </nav>
  )
}

function Whole({ brand, answer }: { brand: Brand; answer: Answer }) {
  const received = query.value.get("text") === "received"
  const rendered = useMemo(
    () => (received ? undefined : renderMarkdown(answer.text, answer.mentions, answer.citations)),
    [answer, received],
  )
  return (
    <div class="columns answer">
      <article class="card">
        <Head
          name={answer.prompt_text}
          title={`${platformName(answer.platform)}, ${time(answer.answered_at)}`}
          tools={
            <>
              <Named answer={answer} /> <Tone sentiment={answer.sentiment} />
            </>
          }
        />
        <div class="inside line">
          {answer.shown ? (
            <Segments name="Text" parameter="text" options={[["", "Formatted"], ["received", "As received"]]} />
          ) : (
            "It was seen, and showed no answer to this prompt. No figure counts that."
          )}
          <Around brand={brand} answer={answer} />
        </div>
        {answer.mentions_omitted > 0 && (
          <p class="inside soft">Only the first {number(answer.mentions.length)} mentions are marked.</p>
        )}
        {answer.shown && <div
          class={rendered ? "inside text markdown" : answer.text.length > longest ? "inside text raw" : "inside text"}
        >
          {rendered?.nodes ?? <Marked text={answer.text} mentions={answer.mentions} />}
        </div>}
      </article>
      <div class="stack">
        {answer.mentions.length > 0 && <Mentions answer={answer} />}
        {answer.citations.length > 0 && <Citations citations={answer.citations} places={rendered?.places} />}
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
        <Facts answer={answer} />
      </div>
    </div>
  )
}

// Mentions shows who is named, and where in the text: the brand first, then in the order of the text.
function Mentions({ answer }: { answer: Answer }) {
  const length = useMemo(() => Array.from(answer.text).length, [answer])
  const names = [...new Map(answer.mentions.map((m) => [m.entity_id, m])).values()].sort(
    (a, b) => Number(b.role === "brand") - Number(a.role === "brand"),
  )
  return (
    <Card name="Who is named" title="Along the text, from its beginning to its end">
      <table class="named" aria-label="Who is named">
        <tbody>
          {names.map(({ entity_id, name, role }) => {
            const places = answer.mentions.filter((m) => m.entity_id === entity_id)
            return (
              <tr key={entity_id} class={role === "brand" ? "own" : ""}>
                <th scope="row">{name}</th>
                <td>
                  <svg class="places" viewBox="0 0 100 12" preserveAspectRatio="none" aria-hidden="true">
                    {places.map((m) => (
                      <rect
                        key={m.start}
                        x={(m.start / length) * 99}
                        width="1"
                        height="12"
                        data-key={entity_id}
                        data-x={m.start}
                      />
                    ))}
                  </svg>
                </td>
                <td class="number">{plural(places.length, "time")}</td>
              </tr>
            )
          })}
        </tbody>
      </table>
    </Card>
  )
}

// Pair has two answers side by side, the earlier one on the left, and what differs between them.
function Pair({ brand, answers }: { brand: Brand; answers: [Answer, Answer] }) {
  const [before, after] = answers.toSorted((a, b) => a.answered_at.localeCompare(b.answered_at)) as [Answer, Answer]
  const place = ({ position }: Answer) => (position === null ? "not named" : ordinal(position))
  const rivals = ({ mentions }: Answer) => mentions.filter((m) => m.role !== "brand").map((m) => m.name)
  const sources = ({ citations }: Answer) => citations.filter((c) => c.cited).map((c) => c.domain)
  const differences = [
    place(before) === place(after)
      ? `${brand.name} ${place(after)} in both`
      : `${brand.name} ${place(before)} → ${place(after)}`,
    list("new", rivals(after), rivals(before)),
    list("gone", rivals(before), rivals(after)),
    list("new source", sources(after), sources(before)),
    list("lost source", sources(before), sources(after)),
  ].filter(Boolean)
  return (
    <section class="card" aria-label="Two answers">
      <Head name={differences.join("; ")} title={after.prompt_text} />
      <div class="inside">
        <div class="diff heads">
          {[before, after].map((a) => (
            <p key={a.id}>
              <a href={screen(brand, `answers/${a.id}`, listed())}>
                {platformName(a.platform)}, {time(a.answered_at)}
              </a>{" "}
              <Named answer={a} />
            </p>
          ))}
        </div>
        <Diff before={before.text} after={after.text} />
      </div>
    </section>
  )
}

// list has what is in one list and not in the other, each once.
function list(name: string, some: string[], others: string[]): string {
  const only = [...new Set(some)].filter((value) => !others.includes(value))
  return only.length > 0 ? `${name}: ${only.join(", ")}` : ""
}

function Facts({ answer }: { answer: Answer }) {
  return (
    <section class="card" aria-label="About this answer">
      <details class="inside about">
        <summary>Technical facts</summary>
        <dl class="parts">
          <Fact name="Model" value={answer.model || "not given"} />
          <Fact name="Served by" value={answer.served_model || "not said"} />
          {answer.provider && <Fact name="Captured by" value={answer.provider} />}
          <Fact name="Region" value={answer.region || "none"} />
          <Fact name="Sample" value={number(answer.sample)} />
          {!token && <Fact name="Cost" value={answer.cost === null ? "not known" : `${number(answer.cost)} USD`} />}
          {answer.usage && (
            <Fact
              name="Tokens"
              value={`${number(answer.usage.input_tokens)} in, ${number(answer.usage.output_tokens)} out`}
            />
          )}
        </dl>
        {!token && (
          <p>
            <a href={`${root}/v1/answers/${answer.id}`} target="_blank" rel="noopener">
              Raw record
            </a>
          </p>
        )}
      </details>
    </section>
  )
}

// Citations have the numbers by which the text refers to them. places are those to which one can go back.
function Citations({ citations, places }: { citations: Answer["citations"]; places?: Set<number> }) {
  return (
    <Card name="Citations">
      <ol class="inside stack">
        {citations.map((c, i) => (
          <li key={c.url} class="long" id={`citation-${i + 1}`} tabIndex={-1}>
            <Outside url={c.url} text={c.title} />
            <div class="soft small">
              {c.domain} <span class={c.category === "owned" ? "tag own" : "tag"}>{c.category}</span>{" "}
              {c.cited ? "" : "only consulted"}{" "}
              {places?.has(i + 1) && (
                <a class="place" href={`#place-${i + 1}`} aria-label={`Citation ${i + 1} in the text`}>
                  ↩
                </a>
              )}
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
            {p.product_title}{" "}
            <span class={p.matched_brand_role === "own" ? "tag own" : "tag"}>{p.matched_brand_role}</span>
            <div class="soft small">
              {p.price_amount === null ? "" : `${number(p.price_amount)} ${p.price_currency} `}
              <Outside url={p.merchant_url} text={p.merchant || p.merchant_domain} />
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
