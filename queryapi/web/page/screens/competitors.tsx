import { useAnswer } from "../api.ts"
import type { Brand, Compared, Comparison } from "../bodies.ts"
import { number, percent } from "../format.ts"
import { Bar, bounds, Figure } from "../parts/figure.tsx"
import { FilterBar, question, Window } from "../parts/filters.tsx"
import { Screen } from "../parts/frame.tsx"
import { Notice, Shown } from "../parts/state.tsx"
import { Table, WithN } from "../parts/table.tsx"
import { answers } from "./drill.ts"
import { NoAnswers } from "./overview.tsx"

export function Competitors({ brand }: { brand: Brand }) {
  const comparison = useAnswer<Comparison>(question("competitor-comparison", brand))
  return (
    <Screen name="Competitors" of={brand.name} tools={<Window />}>
      <FilterBar brand={brand} />
      <Shown of={comparison} height={320}>
        {(c) => (c.brand.result_count === 0 ? <NoAnswers brand={brand} /> : <Compare brand={brand} comparison={c} />)}
      </Shown>
    </Screen>
  )
}

function Compare({ brand, comparison }: { brand: Brand; comparison: Comparison }) {
  const voice = comparison.share_of_voice
  const rows = [comparison.brand, ...comparison.competitors]
  return (
    <div class="stack">
      {comparison.competitors.length === 0 && <Notice kind="plain">No competitors are tracked yet: without them there is no share of voice.</Notice>}
      <section class="card" aria-label="Figures">
        <div class="figures">
          <Figure name="Share of voice" value={percent(voice.overall_sov_pct)} />
          <Figure name="Mentions of the brand" value={number(voice.total_brand_mentions)} href={answers(brand, { mentioned: "true" })} />
          <Figure name="Mentions of competitors" value={number(voice.total_competitor_mentions)} />
        </div>
      </section>
      <Table<Compared>
        name="Visibility"
        title="Over the same answers; position: mean rank in those that name it; prompts: where it is named or cited"
        rows={rows}
        own={(r) => !r.competitor_id}
        columns={[
          { name: "Name", cell: (r) => <a href={answers(brand, r.competitor_id ? { competitor_id: r.competitor_id } : { mentioned: "true" })}>{r.name}</a> },
          { name: "Visibility rate", number: true, cell: (r) => <Bar value={r.mention_rate_pct} own={!r.competitor_id} text={percent(r.mention_rate_pct)} /> },
          { name: "Interval", number: true, cell: (r) => bounds(r.mention_rate_interval, "%") },
          { name: "Score", number: true, cell: (r) => <WithN text={number(r.ai_visibility_score)} beside={bounds(r.interval)} /> },
          { name: "Position", number: true, cell: (r) => number(r.avg_position) },
          { name: "n", number: true, cell: (r) => number(r.result_count) },
          { name: "Mentions", number: true, cell: (r) => number(r.total_mentions) },
          { name: "Citations", number: true, cell: (r) => number(r.total_citations) },
          { name: "Prompts", number: true, cell: (r) => <>{number(r.visible_prompts)} of {number(r.prompt_count)}</> },
        ]}
        csv={{ url: question("competitor-comparison", brand, { table: "competitors" }), file: `${brand.slug}-competitors.csv` }}
      />
      <Table
        name="Share of voice by platform"
        title="Mentions of the brand among those of the brand and its competitors"
        rows={voice.by_platform}
        columns={[
          { name: "Platform", cell: (r) => <a href={answers(brand, { platform: r.platform, model: r.model_used || undefined })}>{r.platform}</a> },
          { name: "Model", cell: (r) => r.model_used || "not given" },
          { name: "Share of voice", number: true, cell: (r) => <Bar value={r.sov_pct} own text={percent(r.sov_pct)} /> },
          { name: "Mentions", number: true, cell: (r) => number(r.brand_mentions) },
          { name: "Of competitors", number: true, cell: (r) => number(r.competitor_mentions) },
        ]}
        csv={{ url: question("competitor-comparison", brand, { table: "share_of_voice.by_platform" }), file: `${brand.slug}-share-of-voice.csv` }}
      />
    </div>
  )
}
