import { useAnswer } from "../api.ts"
import type { Brand, Card, Cards } from "../bodies.ts"
import { number, stamp } from "../format.ts"
import { type Filter, Toolbar } from "../parts/toolbar.tsx"
import { chosenWindow, question, screen } from "../parts/filters.tsx"
import { Screen } from "../parts/frame.tsx"
import { Outside } from "../parts/link.tsx"
import { Empty, Shown } from "../parts/state.tsx"
import { Pages, Table } from "../parts/table.tsx"
import { query } from "../route.ts"

const roles: Filter[] = [{ name: "role", label: "Products", options: [["own", "The brand's"], ["competitor", "Competitors'"], ["other", "Others'"]] }]

export function Shopping({ brand }: { brand: Brand }) {
  const role = query.value.get("role") ?? undefined
  const cursor = query.value.get("cursor") ?? undefined
  const { from, to } = chosenWindow() // without dates the API's cards are of all time
  const ask = (more: Record<string, string | undefined>) => question("shopping-cards", brand, { date_from: from, date_to: to, model: undefined, ...more })
  const cards = useAnswer<Cards>(ask({ role, cursor }))
  const newest = useAnswer<Cards>(ask({ platform: undefined, region: undefined, limit: "200" })).data?.cards ?? []
  return (
    <Screen name="Shopping" of={brand.name} bar={<Toolbar brand={brand} only={["platform", "region", "topic_id", "branded"]} platforms={newest.map((c) => c.platform).sort()} regions={newest.map((c) => c.region).filter(Boolean).sort()} more={roles} />}>
      <Shown of={cards} height={320}>
        {(page) =>
          page.cards.length === 0 ? (
            <div class="card">
              <Empty title="No products">In this window no AI platform showed a product card that passes these filters. Choose a longer window.</Empty>
            </div>
          ) : (
            <div class="stack">
              <Table<Card>
                name="Shopping cards"
                title="Products as AI platforms showed them, newest first"
                rows={page.cards}
                own={(r) => r.matched_brand_role === "own"}
                columns={[
                  { name: "Product", long: true, cell: (r) => <a href={screen(brand, `answers/${r.prompt_result_id}`)}>{r.product_title || "without a title"}</a> },
                  { name: "Brand", cell: (r) => <>{r.product_brand} <Whose role={r.matched_brand_role} /></> },
                  { name: "Position", number: true, cell: (r) => number(r.position) },
                  { name: "Price", number: true, cell: (r) => (r.price_amount === null ? "–" : `${number(r.price_amount)} ${r.price_currency}`) },
                  { name: "Rating", number: true, cell: (r) => (r.rating === null ? "–" : <>{number(r.rating)} {r.review_count !== null && <span class="with-n">of {number(r.review_count)}</span>}</>) },
                  { name: "Merchant", cell: (r) => <Outside url={r.merchant_url} text={r.merchant_domain} /> },
                  { name: "Platform", cell: (r) => r.platform },
                  { name: "Shown (UTC)", tight: true, cell: (r) => stamp(r.created_at) },
                ]}
                csv={{ url: ask({ role, limit: "200" }), file: `${brand.slug}-shopping-cards.csv` }}
              />
              <Pages parameter="cursor" at={cursor} next={page.next_cursor} />
            </div>
          )
        }
      </Shown>
    </Screen>
  )
}

function Whose({ role }: { role: Card["matched_brand_role"] }) {
  return role === "other" ? null : <span class={role === "own" ? "tag own" : "tag warn"}>{role === "own" ? "owned" : role}</span>
}
