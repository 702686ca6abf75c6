-- Visits of a brand's site by day and every key of a figure. A page is its host and path, as in the URL of a citation.
CREATE TABLE IF NOT EXISTS visit_daily
(
    organization_id UUID COMMENT 'organization of the brand',
    brand_id        UUID COMMENT 'id of the brand',
    day             Date COMMENT 'UTC day',
    platform        LowCardinality(String) COMMENT 'slug of the AI platform, of a crawl the one it crawls for, empty: none',
    host            LowCardinality(String) COMMENT 'host of the page',
    path            String COMMENT 'path of the page, without query' CODEC(ZSTD(1)),
    country         LowCardinality(String) COMMENT 'ISO 3166-1 alpha-2, empty: unknown',
    event           LowCardinality(String) COMMENT 'view or goal',
    goal            LowCardinality(String) COMMENT 'name of the goal, empty: a view',
    currency        LowCardinality(String) COMMENT 'ISO 4217, empty: none',
    visits          Int64 COMMENT 'views, or times the goal was reached',
    sessions        Int64 COMMENT 'views that began a session, on this landing page',
    value           Decimal(38, 6) COMMENT 'exact sum of the goals'' values in currency'
)
ENGINE = SummingMergeTree((visits, sessions, value))
PARTITION BY toYYYYMM(day)
ORDER BY (organization_id, brand_id, day, platform, host, path, country, event, goal, currency)
SETTINGS non_replicated_deduplication_window = 50000, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 480, index_granularity = 1024, remove_empty_parts = 0
COMMENT 'Visits and goals by day, platform, page and country. Always sum: a key may have several rows.';

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
