-- The landing table of topic crawls: one row per request of an AI crawler in an access log. Rows never merge away,
-- because the sink looks up which ids have landed. An id's first 48 bits are at, which is in the sorting key for
-- lookups by id.
CREATE TABLE IF NOT EXISTS crawls
(
    organization_id UUID COMMENT 'organization of the brand',
    brand_id        UUID COMMENT 'id of the brand',
    day             Date COMMENT 'UTC day',
    id              UUID COMMENT 'id of the crawl, made of site, line and its number among equal lines. Its first 48 bits are at in Unix milliseconds',
    log_topic       LowCardinality(String) COMMENT 'position of the record on the log',
    log_partition   Int32 COMMENT 'position of the record on the log',
    log_offset      Int64 COMMENT 'position of the record on the log' CODEC(Delta, ZSTD(1)),

    at              DateTime64(3, 'UTC') COMMENT 'UTC time of the request' CODEC(Delta, ZSTD(1)),
    crawler         LowCardinality(String) COMMENT 'name of the AI crawler, such as GPTBot',
    operator        LowCardinality(String) COMMENT 'who runs it, empty: unknown',
    platform        LowCardinality(String) COMMENT 'slug of the AI platform, of a crawl the one it crawls for, empty: none',
    purpose         LowCardinality(String) COMMENT 'training, search (an index for later answers) or user (a person asked for the page just then)',
    host            LowCardinality(String) COMMENT 'host of the page',
    path            String COMMENT 'path of the page, without query' CODEC(ZSTD(1)),
    status          UInt16 COMMENT 'status of the response, 0: none was sent',
    bytes           Int64 COMMENT 'bytes of response bodies' CODEC(ZSTD(1)),
    verified        Nullable(Bool) COMMENT 'its address is one that the operator publishes, NULL: not checked',
    simulated       Bool COMMENT 'made by the simulator',

    INDEX log_offset log_offset TYPE minmax GRANULARITY 1
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(day)
ORDER BY (organization_id, brand_id, day, toUInt64(bitShiftRight(toUInt128(id), 80)))
SETTINGS non_replicated_deduplication_window = 50000, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 480, remove_empty_parts = 0, ttl_only_drop_parts = 1, materialize_ttl_recalculate_only = 1
COMMENT 'One row per request of an AI crawler, from access logs. crawl_daily is faster.';
