// Bodies of /api/v1 as queryapi/metrics/openapi.json has them, of their fields those that are shown, and rows of /rest/v1.
export type Interval = { low: number; high: number } | { reason: string } | null

export interface Session { userId: string; email: string; organizationId: string; role: string }
export interface Brand { id: string; name: string; slug: string; industry: string; region: string; created_at: string }
export interface Brands { brands: Brand[] }
export interface Filters { platforms: string[]; models: string[]; regions: string[]; topics: { id: string; name: string | null }[]; simulated: boolean }

export interface Totals {
  resultCount: number
  totalMentions: number
  totalCitations: number
  visiblePrompts: number
  promptCount: number
  visibilityRatePct: number | null
  aiVisibilityScore: number | null
  mentionAnswers: number
  citationAnswers: number
  positionFactor: number | null
  interval: Interval
  mentionRatePct: number | null
  mentionRateInterval: Interval
  notShown: number // of surfaces without an answer, beside resultCount
  shownRatePct: number | null
  shownRateInterval: Interval
}

type Range = { low: number; high: number } | null
export interface Change {
  verdict: string
  reach: "brand" | "prompts" | null
  reason: string | null
  before: number | null
  after: number | null
  difference: number | null
  interval: Range
  detectable: number | null
  since: { day: string; difference: number; interval: Range } | null
  prompts: number
  days_before: number
  days_after: number
  left_out: { outage: number; model_changed: number; basket_changed: number } // shares of runs, 0 to 1
  unadjusted: string | null
}
export interface Changes {
  change: Change // of all answers
  changes: (Change & { dimension: string; key: string; name: string | null })[]
  false_alarms: { guarantee: "daily_looks" | "per_look" }
}
interface Rate { rate_pct: number; low: number; high: number; row_quarters: number }
export interface OverviewBrand {
  id: string
  name: string
  slug: string
  result_count: number
  mention_rate_pct: number | null
  mention_rate_interval: Interval
  change: Change
  leader: { competitor_id: string; name: string; mention_rate_pct: number; gap: { difference: number; interval: Interval; verdict: string } } | null
  visits: number
  visits_change: number
  last_answer_at: string | null
  next_run_at: string | null
  late: boolean
  cost_usd: number
  buckets: { date: string; result_count: number; mention_rate_pct: number; mention_rate_interval: Interval }[]
}
export interface BrandsOverview {
  window: { date_from: string; date_to: string }
  compare: { date_from: string; date_to: string }
  month: string
  counts: { brands: number; moved_up: number; moved_down: number; late: number }
  brands: OverviewBrand[]
}
export interface VerdictChecks {
  false_alarms: { brand: Rate | null; prompts: Rate | null }
  held: { reach: "brand" | "prompts"; moves: number; held_moves: number }[]
}

export interface Summary {
  brand: { id: string; name: string }
  window: { date_from: string; date_to: string }
  totals: Totals & { change: Change }
  topCompetitors: { name: string; mentions: number; avgVisibility: number | null; score: number | null }[]
  degraded_platforms: string[]
  groups?: { key: string; name: string | null; totals: Totals }[]
}
export interface Bucket {
  date: string
  result_count: number
  ai_visibility_score: number | null
  total_mentions: number
  total_citations: number
  interval: Interval
  model_changed: boolean
  model_changes: { platform: string; model: string; before: string[]; now: string[] }[]
  given_up_runs: number
  not_shown: number
  degraded_platforms: string[]
  mention_rate_pct: number | null
  mention_rate_interval: Interval
}
export interface Trend {
  granularity: "day" | "week" | "month"
  buckets: Bucket[]
  unanswered: Pick<Bucket, "date" | "model_changes" | "given_up_runs" | "not_shown" | "degraded_platforms">[]
  changes: { day: string; direction: "up" | "down" }[]
  groups?: ({ key: string; name: string | null } & Pick<Trend, "buckets" | "unanswered">)[]
}
export interface Annotation { id: string; brand_id: string | null; day: string; day_to: string | null; text: string; url: string | null }

export interface EntityBucket {
  date: string
  answers: number
  mention_answers: number
  mention_rate_pct: number
  mention_rate_interval: Interval
  ai_visibility_score: number
  interval: Interval
  mentions: number
  sov_pct: number | null
  citations: number
}
export interface EntityTrend {
  granularity: "day" | "week" | "month"
  entities: { id: string; name: string; is_brand: boolean; slot: number | null; buckets: EntityBucket[] }[]
}

export type GapVerdict = "ahead" | "behind" | "level" | "too_little_data"
export interface Gap { difference: number; interval: Interval; verdict: GapVerdict }
export interface Compared {
  competitor_id?: string
  name: string
  total_mentions: number
  total_citations: number
  appearance_count: number
  visible_prompts: number
  prompt_count: number
  visibility_rate_pct: number | null
  ai_visibility_score: number | null
  interval: Interval
  mention_rate_pct: number | null
  mention_rate_interval: Interval
  result_count: number
  avg_position: number | null
  rank: number | null
  sov_pct: number | null
  slot?: number | null // of a competitor
  gap?: Gap | null
}
interface ComparisonFigures {
  brand: Compared
  competitors: Compared[]
}
export interface Comparison extends ComparisonFigures {
  groups?: (ComparisonFigures & { key: string; name: string | null })[]
  share_of_voice: {
    overall_sov_pct: number | null
    total_brand_mentions: number
    total_competitor_mentions: number
    by_platform: { platform: string; model_used: string; brand_mentions: number; competitor_mentions: number; sov_pct: number | null }[]
  }
}

export interface PromptFigures {
  prompt_id: string
  prompt_text: string
  topic_name: string | null
  result_count: number
  appearance_count: number
  avg_visibility: number | null
  total_mentions: number
  total_citations: number
  ai_visibility_score: number | null
  mention_rate_pct: number | null
  mention_rate_interval: Interval
  position: number | null
  change: Change | null // without comparison
}
export interface PromptPerformance { window: { dateFrom: string }; prompts: PromptFigures[]; next_cursor?: string | null }

interface NamedShare { n: number; rate: number; interval: Interval }
type MatrixCell = NamedShare & { key: string }
export interface PromptMatrix {
  by: "platform" | "model" | "region"
  columns: MatrixCell[]
  rows: (NamedShare & { prompt_id: string; prompt_text: string; topic_name: string | null; branded: boolean; cells: MatrixCell[] })[]
  next_cursor: string | null
}

export interface Citations {
  totals: { domains: number; urls: number; citations: number; results_with_citations: number; avg_citations_per_result: number | null }
  source_type_breakdown: { category: string; count: number; pct: number | null; citations: number; citations_pct: number | null }[]
  top_domains: { domain: string; category: string; total_citations: number; results_citing: number; usage_pct: number | null; models: string[] }[]
  top_urls: { url: string; domain: string; category: string; title: string; total_citations: number; results_citing: number; usage_pct: number | null }[]
  buckets: { date: string; category: string; citations: number; citations_pct: number | null; citing_answers: number | null }[]
}
export interface SourceMatrix {
  domains: {
    domain: string
    category: string
    answers: number
    usage_pct: number | null
    prompt_count: number
    entities: { id: string; name: string; role: "brand" | "competitor"; named: number; mention_rate_pct: number; mention_rate_interval: Interval; gap: Gap | null }[]
  }[]
}

export interface Traffic {
  total_visits: number
  sessions: number
  platform_breakdown: { platform: string; visits: number }[]
  country_breakdown: { country: string | null; visits: number }[]
  goals: { name: string; count: number; value: number; currency: string | null }[]
  buckets: TrafficBucket[] | null
  comparison: {
    window: { date_from: string; date_to: string }
    visits: CountChange
    sessions: CountChange
    goals: CountChange
    buckets: TrafficTotal[] | null
  } | null
}
export interface TrafficBucket extends TrafficTotal { platform: string }
export interface TrafficTotal {
  date: string
  visits: number
  sessions: number
  goals: number
  values: { currency: string | null; value: number }[]
}
interface CountChange { before: number; difference: number }
export interface Crawlers {
  total_requests: number
  verified_requests: number
  unverified_requests: number
  crawler_breakdown: { crawler: string; operator: string; platform: string | null; purpose: string; requests: number; verified_requests: number; unverified_requests: number }[]
  buckets: CrawlBucket[] | null
}
export interface CrawlBucket {
  date: string
  purpose: "training" | "search" | "user"
  requests: number
  verified_requests: number
  unverified_requests: number
  unchecked_requests: number
  errors: number
}
export interface SitePages {
  total: number
  steps: {
    crawled: number
    cited: number
    visited: number
    converted: number
    crawled_never_cited: number
    cited_never_visited: number
  }
  pages: { page: string; crawls: number; citations: number; visits: number; sessions: number; goals: number }[]
}
export interface Spending {
  date_from: string
  date_to: string
  days: { date: string; platform: string; runs: number; not_shown: number; given_up: number; cost: number }[]
  cost: number
  month: { date_from: string; cost: number }
  forecast: {
    days: { date: string; platform: string; runs: number; cost: number | null }[]
    runs: number
    cost: number | null
    refused: { platform: string; reason: string }[]
  }
  budget: Budget
}
export interface JobPlatforms {
  platforms: { platform: string; answered: number; not_shown: number; given_up: number; waiting: number }[]
  rate_per_minute: number | null
  minutes_left: number | null
}
export interface Card {
  id: string
  prompt_result_id: string
  position: number
  product_title: string
  product_brand: string
  price_amount: number | null
  price_currency: string
  merchant: string
  merchant_url: string
  merchant_domain: string
  rating: number | null
  review_count: number | null
  matched_brand_role: "own" | "competitor" | "other"
  platform: string
  region: string
  created_at: string
}
export interface Cards { cards: Card[]; next_cursor: string | null }
export interface ShoppingSummary {
  totals: { lists: number; prompts: number; merchants: number; own_merchants: number }
  brands: {
    id: string | null
    name: string | null
    role: Card["matched_brand_role"]
    lists: number
    share_pct: number | null
    share_interval: Interval
    avg_position: number | null
    prices: { currency: string; cards: number; min: number; median: number; max: number }[]
  }[]
}

export interface Prompt { id: string; text: string; topic_id: string | null; prompt_set_id: string; is_active: boolean }
export interface Topic { id: string; name: string }
export interface Key { id: string; name: string; prefix: string; scopes: string[]; created_at: string; last_used_at: string | null; expires_at: string | null; revoked_at: string | null; email?: string }

export interface Member { id: string; email: string; role: string; is_active: boolean; last_sign_in_at: string | null }
export interface Provider { platform: string; name: string; available: boolean; reason?: string; key_from?: "environment" | "organization"; key_ends_with?: string; models: { model: string }[]; limits: AccountLimits<number>; limits_from: AccountLimits<"description" | "environment" | "organization" | "platform">; price?: object; providers?: { provider: string; key_from: string }[] }
export interface AccountLimits<T> { requests_per_minute: T; tokens_per_minute: T; in_flight: T }
export interface Limits { runsPerDay: number | null; runsPerMonth: number | null; costPerDay: string | null; costPerMonth: string | null }
export interface Budget extends Limits { platform: string; spent: { runsDay: number; runsMonth: number; costDay: string; costMonth: string } }

export interface AnswerRow {
  id: string
  prompt_id: string
  prompt_text: string
  platform: string
  model: string
  served_model: string
  provider: string
  region: string
  sample: number
  answered_at: string
  shown: boolean // false: the surface had no answer
  mentioned: boolean
  position: number | null
  cited: boolean
  sentiment: string
  citations_count: number
  excerpt: string
}
export interface Answers { total: number; answers: AnswerRow[]; next_cursor: string | null }
export interface Mention { entity_id: string; name: string; role: string; start: number; end: number } // code points of the text
export interface Answer extends AnswerRow {
  text: string
  mentions: Mention[]
  mentions_omitted: number
  citations: { url: string; title: string; domain: string; category: string; cited: boolean }[]
  search_queries: string[]
  products: { position: number; product_title: string; product_brand: string; price_amount: number | null; price_currency: string; merchant: string; merchant_url: string; merchant_domain: string; matched_brand_role: string }[]
  usage: { input_tokens: number; output_tokens: number; searches: number } | null
  cost: number | null
  job_id: string | null
}

export interface Plan {
  difference: number
  days: number
  answers_per_day: number
  answer_deviation: number | null
  day_deviation: number | null
  needed_answers_per_day: number | null
  more_answers_per_day: number | null
  more_cost_per_month_usd: number | null
  clusters: number | null
  needed_clusters: number | null
  reason: "too_little_data" | "noise_of_days" | null
}

export interface Suggestion {
  id: string
  kind: string
  key: string
  text: string
  reason: string | null
  score: number | null
  status: "new" | "added" | "closed" | "dismissed"
  brand_rate_pct: number | null
  rival_rate_pct: number | null
  evidence: Evidence
  answers_url: string | null
  created_at: string
}
// Evidence has of these what the kind has.
export interface Evidence {
  name?: string
  query?: string
  answers?: number
  listed_answers?: number
  brand_answers?: number
  brand_interval?: Interval
  rival?: { id: string; name: string }
  rival_answers?: number
  rival_interval?: Interval
  prompt_id?: string
  topic?: string
  pages?: { url: string; title: string; answers: number; page_kind: string }[]
  quotes?: { answer_id: string; text: string }[]
}
export interface Suggestions {
  computed_at: string | null
  window: { date_from: string; date_to: string } | null
  reasons: { kind: string; reason: string; have: number; need: number }[]
  totals: { kind: string; of: number; shown: number; tried: number; expected: number; new: number; added: number; closed: number; dismissed: number }[]
  suggestions: Suggestion[]
}
export interface Brief { id: string; title: string; body: string; status: string; created_at: string }

export interface Fanout {
  totals: { answers: number; searching_answers: number; searches: number; queries: number }
  queries: { query: string; answers: number; prompts: number; platforms: string[]; covered: boolean; mention_rate_pct: number | null; cites_own_pct: number | null }[]
  words: Record<"added" | "dropped", { word: string; searches: number; pct: number | null }[]>
  by_platform: { platform: string; answers: number; searching_answers: number; searches_per_answer: number | null }[]
}
interface Tones { answers: number; positive_pct: number | null; positive_interval: Interval; neutral_pct: number | null; negative_pct: number | null; unknown: number }
export interface Sentiments { brand: Tones; competitors: (Tones & { competitor_id: string; name: string })[]; method: string }
