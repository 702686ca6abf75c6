-- The landing table of topic visits: one row per beacon that the collector accepted. Rows never merge away, because the
-- sink looks up which ids have landed. An id's first 48 bits are its time, which is in the sorting key for lookups by
-- id.
CREATE TABLE IF NOT EXISTS visits
(
    organization_id UUID COMMENT 'organization of the brand',
    brand_id        UUID COMMENT 'id of the brand',
    day             Date COMMENT 'UTC day',
    id              UUID COMMENT 'id of the visit. Its first 48 bits are the acceptance in Unix milliseconds',
    log_topic       LowCardinality(String) COMMENT 'position of the record on the log',
    log_partition   Int32 COMMENT 'position of the record on the log',
    log_offset      Int64 COMMENT 'position of the record on the log' CODEC(Delta, ZSTD(1)),

    at              DateTime64(3, 'UTC') COMMENT 'UTC time of the visit' CODEC(Delta, ZSTD(1)),
    event           LowCardinality(String) COMMENT 'view or goal',
    platform        LowCardinality(String) COMMENT 'slug of the AI platform, of a crawl the one it crawls for, empty: none',
    platform_by     LowCardinality(String) COMMENT 'source of the platform: referrer, utm, parameter, referrer_utm or session, empty: unknown',
    host            LowCardinality(String) COMMENT 'host of the page',
    path            String COMMENT 'path of the page, without query' CODEC(ZSTD(1)),
    referrer_host   LowCardinality(String) COMMENT 'host of the linking page, empty: unknown',
    country         LowCardinality(String) COMMENT 'ISO 3166-1 alpha-2, empty: unknown',
    country_by      LowCardinality(String) COMMENT 'source of the country: database, header or time_zone, empty: unknown',
    language        LowCardinality(String) COMMENT 'language of the browser, empty: unknown',
    screen          LowCardinality(String) COMMENT 'pixels, such as 1920x1080, empty: unknown',
    time_zone       LowCardinality(String) COMMENT 'IANA name, empty: unknown',
    session         String COMMENT 'random name of the tab''s session, empty: unknown' CODEC(ZSTD(1)),
    new_session     Bool COMMENT 'first view of its session',
    visitor         UInt64 COMMENT 'salted hash of the visitor, for one day, 0: unknown',
    goal_name       LowCardinality(String) COMMENT 'name of the goal, empty: a view',
    goal_value      Nullable(Decimal(18, 6)) COMMENT 'value in goal_currency, NULL: none',
    goal_currency   LowCardinality(String) COMMENT 'ISO 4217, empty: none',
    simulated       Bool COMMENT 'made by the simulator',

    INDEX log_offset log_offset TYPE minmax GRANULARITY 1
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(day)
ORDER BY (organization_id, brand_id, day, toUInt64(bitShiftRight(toUInt128(id), 80)))
SETTINGS non_replicated_deduplication_window = 50000, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 480, remove_empty_parts = 0, ttl_only_drop_parts = 1, materialize_ttl_recalculate_only = 1
COMMENT 'One row per visit that an AI platform sent, and per goal. visit_daily is faster.';
