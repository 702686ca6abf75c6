import type { FunctionComponent } from "preact"
import { useEffect, useState } from "preact/hooks"
import { metrics, useAnswer } from "../api.ts"
import type { Brand, Filters, Session, Summary } from "../bodies.ts"
import { plural } from "../format.ts"
import { Card } from "../parts/card.tsx"
import { Chapter } from "../parts/chapter.ts"
import { chosen, common, question, screen } from "../parts/filters.tsx"
import { Button } from "../parts/form.tsx"
import { Screen } from "../parts/frame.tsx"
import { Icon } from "../parts/icon.tsx"
import { platformName } from "../parts/platform.ts"
import { Shown } from "../parts/state.tsx"
import { Toolbar, windowText } from "../parts/toolbar.tsx"
import { HowSure } from "../parts/verdict.tsx"
import { go, query, withParameters } from "../route.ts"
import { Competitors } from "./competitors.tsx"
import { Overview } from "./overview.tsx"
import { Prompts } from "./prompts.tsx"
import { Shopping } from "./shopping.tsx"
import { Sources } from "./sources.tsx"
import { Traffic } from "./traffic.tsx"

interface Props { brand: Brand; session: Session }

const parts: Record<string, FunctionComponent<Props>> = { Overview, Competitors, Prompts, Sources, Shopping, Traffic }
const usual = ["Overview", "Competitors", "Prompts", "Sources", "Traffic"]

// Report has what other screens have, one below the other, for paper. The address has its parts, in the order in which
// they were chosen.
export function Report({ brand, session }: Props) {
  usePlainAddress()
  useFooter(`${brand.name} · ${windowText()}`)
  const chosenParts = query.value.get("parts")?.split(",") ?? usual
  const order = chosenParts.filter((name) => name in parts)
  const choose = (name: string) => {
    const next = order.includes(name) ? order.filter((one) => one !== name) : [...order, name]
    go(withParameters({ parts: next.join(",") || "none" }))
  }
  return (
    <Screen name="Report" of={brand.name} bar={<Toolbar brand={brand} />}>
      <fieldset class="plain line screen-only">
        <legend class="hidden">Parts, in the order in which they are chosen</legend>
        {Object.keys(parts).map((name) => (
          <label key={name} class="check">
            <input type="checkbox" checked={order.includes(name)} onInput={() => choose(name)} /> {name}
          </label>
        ))}
        <Button kind="primary" disabled={order.length === 0} onClick={() => print()}>
          <Icon name="print" /> Print
        </Button>
      </fieldset>
      <Cover brand={brand} />
      {order.map((name) => {
        const Part = parts[name]!
        return (
          <Chapter.Provider key={name} value={name}>
            <Part brand={brand} session={session} />
          </Chapter.Provider>
        )
      })}
      <Method />
      <Footnotes brand={brand} />
    </Screen>
  )
}

const parameters: string[] = [...common, "compare", "parts", "prompt"]

// usePlainAddress takes out of the address what a part alone would have in it: parts mean other things by one name.
function usePlainAddress() {
  const others = [...query.value.keys()].filter((name) => !parameters.includes(name))
  useEffect(() => {
    if (others.length > 0) go(withParameters(Object.fromEntries(others.map((name) => [name, undefined]))), true)
  }, [others.join()])
}

// useFooter has a text at the foot of every page on paper.
function useFooter(text: string) {
  useEffect(() => {
    const sheet = document.styleSheets[0]!
    const at = sheet.insertRule(`@page { @bottom-left { content: ${JSON.stringify(text)} } }`, sheet.cssRules.length)
    return () => sheet.deleteRule(at)
  }, [text])
}

// Cover says how much the report is made of.
function Cover({ brand }: { brand: Brand }) {
  const { date_from, date_to } = chosen()
  const summary = useAnswer<Summary>(question("visibility-summary", brand))
  const filters = useAnswer<Filters>(metrics("filters", { brand_id: brand.id, date_from, date_to }))
  return (
    <Shown of={summary} height={60}>
      {({ totals }) => (
        <p>
          {plural(totals.resultCount, "answer")} to {plural(totals.promptCount, "prompt")}{filters.data && `, of ${filters.data.platforms.map((slug) => platformName(slug)).join(", ")}`}.
        </p>
      )}
    </Shown>
  )
}

// Footnotes has the addresses of the answers that figures count. Before printing each link gets its number, which paper
// shows beside it; cells of charts have none, and lead to parts of what their rows do.
function Footnotes({ brand }: { brand: Brand }) {
  const [addresses, set] = useState<string[]>([])
  const all = new URL(screen(brand, "answers")!, location.href).href
  useEffect(() => {
    const count = () => {
      const links = [...document.querySelectorAll<HTMLAnchorElement>('.chapter a[href*="/answers"]:not([data-at])')]
      const shown = links.filter((link) => link.checkVisibility() && !link.closest("tr:nth-child(n+26)"))
      const list = [...new Set(shown.map((link) => link.href))]
      for (const link of shown) link.dataset.note = String(list.indexOf(link.href) + 1)
      set(list)
    }
    addEventListener("beforeprint", count)
    return () => removeEventListener("beforeprint", count)
  }, [])
  return (
    <section class="footnotes" aria-label="Answers behind the figures">
      <h2>Answers behind the figures</h2>
      <p>Each number beside a name leads to the answers that it counts; … stands for {all}</p>
      <ol>
        {addresses.map((address) => (
          <li key={address}>{decodeURIComponent(address.replace(all, "…"))}</li>
        ))}
      </ol>
    </section>
  )
}

// Method says in words what the figures are.
function Method() {
  return (
    <Card name="How these figures are made">
      <div class="inside stack">
        <p>
          AI platforms are asked the same prompts again and again. The mention rate is the share of their answers that
          name the brand. The share of voice is the brand's part of all mentions of it and its competitors. Citations are
          the pages that answers name as their sources.
        </p>
        <p>
          The same prompt gets different answers, so every rate has a 95 % interval: of 100 such intervals about 95 hold
          the rate that endless asking would give. n is the number of answers. Under five prompts there is too little data
          for an interval. Gaps between brands are over the same answers, prompt by prompt.
        </p>
        <HowSure />
      </div>
    </Card>
  )
}
