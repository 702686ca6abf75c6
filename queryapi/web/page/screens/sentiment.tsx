import { useAnswer } from "../api.ts"
import type { Brand, Sentiments } from "../bodies.ts"
import { Dots } from "../chart/dots.tsx"
import { inColumn, number } from "../format.ts"
import { boundsInColumn } from "../parts/figure.tsx"
import { question } from "../parts/filters.tsx"
import { Shown } from "../parts/state.tsx"
import { WithN } from "../parts/table.tsx"
import { answers } from "./drill.ts"

// Sentiment compares how the sentences that name the brand and its competitors sound.
export function Sentiment({ brand }: { brand: Brand }) {
  return (
    <Shown of={useAnswer<Sentiments>(question("sentiment", brand))} height={240}>
      {({ brand: figures, competitors, method }) => (
        <Dots
          name="Sentiment"
          subtitle="Share of the answers naming each whose tone is positive, of those with a tone; the strip is the 95 % interval. Complaints are under Opportunities"
          unit="%"
          domain={[0, 100]}
          method={`Labelled by ${method}.`}
          columns={["Positive", "Neutral", "Negative", "No tone"]}
          csv={{ url: question("sentiment", brand, { table: "competitors" }), file: `${brand.slug}-sentiment.csv` }}
          rows={[{ ...figures, competitor_id: "", name: brand.name }, ...competitors].toSorted((a, b) => (b.positive_pct ?? -1) - (a.positive_pct ?? -1)).map((c) => ({
            key: c.competitor_id || brand.id,
            name: c.name,
            own: !c.competitor_id,
            now: { key: c.competitor_id || brand.id, x: c.name, y: c.positive_pct, range: c.positive_interval, n: c.answers, href: c.competitor_id ? answers(brand, { competitor_id: c.competitor_id }) : answers(brand, { sentiment: "positive" }) },
            beside: [
              <WithN text={inColumn(c.positive_pct)} beside={boundsInColumn(c.positive_interval)} />,
              inColumn(c.neutral_pct),
              inColumn(c.negative_pct),
              number(c.unknown),
            ],
          }))}
        />
      )}
    </Shown>
  )
}
