import { useAnswer } from "../api.ts"
import type { Brand, Card, Cards, ShoppingSummary } from "../bodies.ts"
import { Dots } from "../chart/dots.tsx"
import { domainOf } from "../chart/scale.ts"
import { inColumn, money, none, number, plural, stamp } from "../format.ts"
import { boundsInColumn } from "../parts/figure.tsx"
import { chosenWindow, question, screen } from "../parts/filters.tsx"
import { Screen } from "../parts/frame.tsx"
import { Outside } from "../parts/link.tsx"
import { platformName } from "../parts/platform.ts"
import { Segments } from "../parts/segments.tsx"
import { Empty, Shown } from "../parts/state.tsx"
import { Pages, Table, WithN } from "../parts/table.tsx"
import { type Filter, Toolbar } from "../parts/toolbar.tsx"
import { query, withParameters } from "../route.ts"

const roles: Filter[] = [
  {
    name: "role",
    label: "Products",
    options: [
      ["own", "The brand's"],
      ["competitor", "Competitors'"],
      ["other", "Others'"],
    ],
  },
]

type Ask = (endpoint: string, more?: Record<string, string | undefined>) => string

export function Shopping({ brand }: { brand: Brand }) {
  const { from, to } = chosenWindow() // without dates the API's cards are of all time
  const ask: Ask = (endpoint, more) =>
    question(endpoint, brand, { date_from: from, date_to: to, model: undefined, ...more })
  const summary = useAnswer<ShoppingSummary>(ask("shopping-summary"))
  const newest = useAnswer<Cards>(ask("shopping-cards", { platform: undefined, region: undefined, limit: "200" }))
  const cards = newest.data?.cards ?? []
  const bar = (
    <Toolbar
      brand={brand}
      only={["platform", "region", "topic_id", "branded"]}
      platforms={cards.map((c) => c.platform).sort()}
      regions={cards.flatMap((c) => c.region || []).sort()}
      more={roles}
    />
  )
  return (
    <Screen name="Shopping" of={brand.name} bar={bar}>
      <Shown of={summary} height={320}>
        {(s) =>
          s.totals.lists === 0 ? (
            <None />
          ) : (
            <div class="stack">
              <Brands brand={brand} summary={s} csv={ask("shopping-summary", { table: "brands" })} />
              <Prices brand={brand} summary={s} csv={ask("shopping-summary", { table: "brands.prices" })} />
              <List brand={brand} ask={ask} />
            </div>
          )
        }
      </Shown>
    </Screen>
  )
}

function None() {
  return (
    <Empty title="No products">
      In this window no AI platform showed a product card that passes these filters. Choose a longer window.
    </Empty>
  )
}

interface ChartProps {
  brand: Brand
  summary: ShoppingSummary
  csv: string
}

type Row = ShoppingSummary["brands"][0]

// about are the parts of a row that all charts share. It leads to the cards of its role.
const about = (row: Row) => ({
  key: row.id ?? "other",
  name: row.name ?? "All others",
  own: row.role === "own",
  href: withParameters({ role: row.role, cursor: undefined }),
})

const metrics = [
  ["share", "Share of lists"],
  ["place", "Mean place"],
] as const

// Brands draws in how many lists a brand is, or at which place.
function Brands({ brand, summary: { totals, brands }, csv }: ChartProps) {
  const place = query.value.get("metric") === "place"
  const [first] = brands as [Row] // the brand's
  const { lists, prompts, merchants, own_merchants } = totals
  const verb = own_merchants === 1 ? "is" : "are"
  const shop = `; ${number(own_merchants)} of ${plural(merchants, "merchant")} ${verb} its own`
  const sentence = `${number(first.lists)} of ${plural(lists, "product list")}; place ${number(first.avg_position)}`
  const finding =
    first.lists === 0
      ? `${brand.name} is in none of ${plural(lists, "product list")}`
      : `${brand.name} is in ${sentence}${merchants > 0 ? shop : ""}`
  return (
    <Dots
      name="Product lists"
      finding={finding}
      subtitle={
        place
          ? "Mean place of the first product of a brand in the lists that have one"
          : `Share of ${plural(lists, "list")} to ${plural(prompts, "prompt")} with a product of a brand; 95 % interval`
      }
      head="Brand"
      columns={["Share", "Place", "Lists"]}
      tools={<Segments name="Figure" parameter="metric" options={metrics} />}
      rows={brands.map((row) => {
        const { href, ...names } = about(row)
        return {
          ...names,
          now: place
            ? { key: names.key, x: "mean place", y: row.avg_position, n: row.lists, href }
            : { key: names.key, x: "share of lists", y: row.share_pct, range: row.share_interval, n: lists, href },
          beside: [
            <WithN key="share" text={inColumn(row.share_pct)} beside={boundsInColumn(row.share_interval)} />,
            inColumn(row.avg_position, ""),
            number(row.lists),
          ],
        }
      })}
      domain={place ? [1, Math.max(2, ...brands.map((row) => Math.ceil(row.avg_position ?? 1)))] : [0, 100]}
      reversed={place}
      unit={place ? "" : "%"}
      csv={{ url: csv, file: `${brand.slug}-product-lists.csv` }}
    />
  )
}

// Prices draws the prices of a brand from the lowest to the highest, in one currency.
function Prices({ brand, summary: { brands }, csv }: ChartProps) {
  const currencies = [...new Set(brands.flatMap((row) => row.prices.map((price) => price.currency)))]
  const currency = query.value.get("currency") ?? currencies[0]
  const rows = brands.flatMap((row) => {
    const price = row.prices.find((p) => p.currency === currency)
    return price ? [{ ...about(row), price }] : []
  })
  if (!currency || rows.length === 0) return null
  const price = rows.find((row) => row.own)?.price
  const amount = (value: number) => money(value, currency)
  const finding = price
    ? `Middle price of ${brand.name}: ${amount(price.median)}, between ${amount(price.min)} and ${amount(price.max)}`
    : `No product of ${brand.name} has a price in ${currency}`
  return (
    <Dots
      name="Prices"
      finding={finding}
      subtitle="Middle price of the product cards of a brand; the strip reaches from the lowest to the highest price"
      head="Brand"
      columns={["Middle", "Lowest to highest", "Cards"]}
      tools={
        currencies.length > 1 && (
          <Segments name="Currency" parameter="currency" options={currencies.map((c) => [c, c] as const)} />
        )
      }
      rows={rows.map(({ price: { median, min, max, cards }, href, ...names }) => ({
        ...names,
        now: { key: names.key, x: "middle price", y: median, range: { low: min, high: max }, n: cards, href },
        beside: [amount(median), `${amount(min)} to ${amount(max)}`, number(cards)],
      }))}
      domain={domainOf(
        rows.map((row) => row.price.max),
        currency,
      )}
      unit={currency}
      csv={{ url: csv, file: `${brand.slug}-prices.csv` }}
    />
  )
}

// List has the cards as the platforms listed them.
function List({ brand, ask }: { brand: Brand; ask: Ask }) {
  const role = query.value.get("role") ?? undefined
  const cursor = query.value.get("cursor") ?? undefined
  const page = useAnswer<Cards>(ask("shopping-cards", { role, cursor }))
  return (
    <Shown of={page} height={320}>
      {({ cards, next_cursor }) => (
        <div class="stack">
          <Table<Card>
            name="Shopping cards"
            title="Products as AI platforms listed them, the newest list first"
            rows={cards}
            own={(r) => r.matched_brand_role === "own"}
            empty="No product passes these filters."
            group={(r) => ({
              key: r.prompt_result_id,
              title: (
                <a href={screen(brand, `answers/${r.prompt_result_id}`)}>
                  {[platformName(r.platform), r.region, `${stamp(r.created_at)} UTC`].filter(Boolean).join(" · ")}
                </a>
              ),
            })}
            columns={[
              {
                name: "Product",
                long: true,
                cell: (r) => (
                  <a href={screen(brand, `answers/${r.prompt_result_id}`)}>{r.product_title || "without a title"}</a>
                ),
              },
              {
                name: "Brand",
                cell: (r) => (
                  <>
                    {r.product_brand} <Whose role={r.matched_brand_role} />
                  </>
                ),
              },
              { name: "Position", number: true, cell: (r) => number(r.position) },
              {
                name: "Price",
                number: true,
                cell: (r) => (r.price_amount === null ? none : money(r.price_amount, r.price_currency)),
              },
              {
                name: "Rating",
                number: true,
                cell: (r) => (
                  <WithN
                    text={inColumn(r.rating, "")}
                    beside={r.review_count === null ? null : `of ${number(r.review_count)}`}
                  />
                ),
              },
              { name: "Merchant", cell: (r) => <Outside url={r.merchant_url} text={r.merchant || r.merchant_domain} /> },
            ]}
            csv={{ url: ask("shopping-cards", { role, limit: "200" }), file: `${brand.slug}-shopping-cards.csv` }}
          />
          <Pages parameter="cursor" at={cursor} next={next_cursor} />
        </div>
      )}
    </Shown>
  )
}

function Whose({ role }: { role: Card["matched_brand_role"] }) {
  if (role === "other") return null
  return <span class={role === "own" ? "tag own" : "tag warn"}>{role === "own" ? "owned" : role}</span>
}
