-- Requests of AI crawlers by day and every key of a figure. Operator and purpose are copied from the record.
CREATE TABLE IF NOT EXISTS crawl_daily
(
    organization_id UUID COMMENT 'organization of the brand',
    brand_id        UUID COMMENT 'id of the brand',
    day             Date COMMENT 'UTC day',
    crawler         LowCardinality(String) COMMENT 'name of the AI crawler, such as GPTBot',
    operator        LowCardinality(String) COMMENT 'who runs it, empty: unknown',
    platform        LowCardinality(String) COMMENT 'slug of the AI platform, of a crawl the one it crawls for, empty: none',
    purpose         LowCardinality(String) COMMENT 'training, search (an index for later answers) or user (a person asked for the page just then)',
    host            LowCardinality(String) COMMENT 'host of the page',
    path            String COMMENT 'path of the page, without query' CODEC(ZSTD(1)),
    status          UInt16 COMMENT 'status of the response, 0: none was sent',
    requests        Int64 COMMENT 'requests',
    verified        Int64 COMMENT 'requests from addresses that the operator publishes',
    unverified      Int64 COMMENT 'requests from other addresses. The rest was not checked',
    bytes           Int64 COMMENT 'bytes of response bodies'
)
ENGINE = SummingMergeTree((requests, verified, unverified, bytes))
PARTITION BY toYYYYMM(day)
ORDER BY (organization_id, brand_id, day, crawler, operator, platform, purpose, host, path, status)
SETTINGS non_replicated_deduplication_window = 50000, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 480, index_granularity = 1024, remove_empty_parts = 0, min_bytes_for_wide_part = 1073741824
COMMENT 'Requests of AI crawlers by day, crawler, purpose, page and status. Always sum: a key may have several rows.';

CREATE MATERIALIZED VIEW IF NOT EXISTS crawl_daily_view TO crawl_daily AS
SELECT
    organization_id,
    brand_id,
    day,
    crawler,
    operator,
    platform,
    purpose,
    host,
    path,
    status,
    toInt64(count())                                   AS requests,
    toInt64(countIf(ifNull(landed.verified, false)))     AS verified,
    toInt64(countIf(NOT ifNull(landed.verified, true)))  AS unverified,
    sum(landed.bytes)                                    AS bytes
FROM crawls AS landed
GROUP BY organization_id, brand_id, day, crawler, operator, platform, purpose, host, path, status;
