import { useState } from "preact/hooks"
import { root, send } from "../api.ts"
import { number } from "../format.ts"
import { Button, Problem, useAction } from "../parts/form.tsx"
import { screen } from "../parts/filters.tsx"
import type { Brand } from "../bodies.ts"

interface Reading { url: string; new: number; suggestions: { kind: string; text: string }[] }

const tabs: Record<string, string> = { alias: "competitor", page: "page", prompt: "prompt" } // of Opportunities

// HomePage reads the brand's home page when it is asked to. What the page says becomes suggestions, which people decide on.
export function HomePage({ brand }: { brand: Brand }) {
  const [reading, show] = useState<Reading>()
  const { busy, failed, run } = useAction()
  return (
    <div class="stack">
      <div class="line">
        <Button disabled={busy} onClick={() => run(async () => show(await send<Reading>("POST", `${root}/brands/${brand.id}/home-page`)))}>
          Read home page
        </Button>
        <span class="soft small">Its names, address and questions become suggestions; nothing is added by itself.</span>
      </div>
      <Problem text={failed} />
      <div role="status">
        {reading && (
          <>
            {reading.url}: {reading.suggestions.length === 0 ? "nothing that is not tracked." : `${number(reading.new)} new suggestions.`}
            <ul>
              {reading.suggestions.map((s) => (
                <li key={s.text}>
                  <a href={screen(brand, "opportunities", { kind: tabs[s.kind] })}>{s.text}</a>
                </li>
              ))}
            </ul>
          </>
        )}
      </div>
    </div>
  )
}
