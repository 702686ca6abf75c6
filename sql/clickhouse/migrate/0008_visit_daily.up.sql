-- Visits of a brand's site by day and every key of a figure. A page is its host and path, as in the URL of a citation.
CREATE TABLE IF NOT EXISTS visit_daily
(
    organization_id UUID COMMENT 'organization that the brand belongs to',
    brand_id        UUID COMMENT 'brand whose site was visited',
    day             Date COMMENT 'UTC day',
    platform        LowCardinality(String) COMMENT 'slug of the AI platform that sent the visitors',
    host            LowCardinality(String) COMMENT 'host of the page',
    path            String COMMENT 'path of the page, without query' CODEC(ZSTD(1)),
    country         LowCardinality(String) COMMENT 'ISO 3166-1 alpha-2, empty: unknown',
    event           LowCardinality(String) COMMENT 'view or goal. Views are the visits of figures, goals are what they led to',
    goal            LowCardinality(String) COMMENT 'name of the goal, empty: views',
    currency        LowCardinality(String) COMMENT 'of value, ISO 4217, empty: none',
    visits          Int64 COMMENT 'views or goals, as event says',
    sessions        Int64 COMMENT 'views that began a session: this was their landing page',
    value           Decimal(38, 6) COMMENT 'sum of the goals'' values in currency, exact'
)
ENGINE = SummingMergeTree((visits, sessions, value))
PARTITION BY toYYYYMM(day)
ORDER BY (organization_id, brand_id, day, platform, host, path, country, event, goal, currency)
SETTINGS non_replicated_deduplication_window = 50000, fsync_after_insert = 1, fsync_part_directory = 1, index_granularity = 1024, remove_empty_parts = 0
COMMENT 'Visits that AI platforms sent by day, platform, page, country and goal. Rows of one key may be several until they merge: sum them.';

CREATE MATERIALIZED VIEW IF NOT EXISTS visit_daily_view TO visit_daily AS
SELECT
    organization_id,
    brand_id,
    day,
    platform,
    host,
    path,
    country,
    event,
    goal_name                                   AS goal,
    goal_currency                               AS currency,
    toInt64(count())                            AS visits,
    toInt64(countIf(landed.new_session))          AS sessions,
    sum(ifNull(goal_value, toDecimal64(0, 6)))  AS value
FROM visits AS landed
GROUP BY organization_id, brand_id, day, platform, host, path, country, event, goal, currency;
