-- The landing table of topic crawls: one row per request of an AI crawler in an access log. Nothing merges rows away,
-- since a replay looks up what has landed. The time in an id is at, and is in the sorting key so that an id is found by
-- it.
CREATE TABLE IF NOT EXISTS crawls
(
    organization_id UUID COMMENT 'organization that the brand belongs to',
    brand_id        UUID COMMENT 'brand whose site was crawled',
    day             Date COMMENT 'UTC day of at',
    id              UUID COMMENT 'made of site, line and the line''s ordinal among equal ones of its file, its first 48 bits are at in Unix milliseconds',
    log_topic       LowCardinality(String) COMMENT 'topic of the record, with its prefix',
    log_partition   Int32 COMMENT 'partition of the record',
    log_offset      Int64 COMMENT 'offset of the record in its partition' CODEC(Delta, ZSTD(1)),

    at              DateTime64(3, 'UTC') COMMENT 'when the request was, UTC' CODEC(Delta, ZSTD(1)),
    crawler         LowCardinality(String) COMMENT 'name of the AI crawler, such as GPTBot',
    operator        LowCardinality(String) COMMENT 'who runs it, empty: not said',
    platform        LowCardinality(String) COMMENT 'slug of the AI platform that it crawls for, empty: none of ours',
    purpose         LowCardinality(String) COMMENT 'training, search (an index for answers to come) or user (somebody asked for the page just then)',
    host            LowCardinality(String) COMMENT 'host of the page',
    path            String COMMENT 'path of the page, without query' CODEC(ZSTD(1)),
    status          UInt16 COMMENT 'status of the response, 0: none was sent',
    bytes           Int64 COMMENT 'size of the response''s body' CODEC(ZSTD(1)),
    verified        Nullable(Bool) COMMENT 'whether it came from an address that the operator publishes, NULL: nobody looked',
    simulated       Bool COMMENT 'made by the simulator, nobody crawled',

    INDEX log_offset log_offset TYPE minmax GRANULARITY 1
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(day)
ORDER BY (organization_id, brand_id, day, toUInt64(bitShiftRight(toUInt128(id), 80)))
SETTINGS non_replicated_deduplication_window = 50000, fsync_after_insert = 1, fsync_part_directory = 1, remove_empty_parts = 0, ttl_only_drop_parts = 1, materialize_ttl_recalculate_only = 1
COMMENT 'Requests of AI crawlers, one row each, from access logs. For figures crawl_daily is faster.';
