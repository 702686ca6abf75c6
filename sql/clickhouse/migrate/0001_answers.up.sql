-- The landing table of topic answers: one row per record of a run, with its reading. Rows never merge away, because the
-- sink looks up which ids have landed. All figures come from the views on this table.
--
-- A correction is two rows of one insert: the current row again with sign -1, the new reading with sign +1. Text,
-- citations as returned, search queries, products and usage stay on an id's first row.
--
-- remove_empty_parts = 0 in every table of facts: a purge or an expiry may leave a part without rows. The server would
-- remove it within a minute with the tokens of its inserts, and a replay brought deleted rows back (200 rows of 100).
-- Expiry drops whole parts, since a partition is a month.
--
-- index_granularity_bytes is small because texts are read of a few answers only: for a page of 50 the server unpacks 1.6 MB
-- instead of 23 MB (48,771 answers of 3 KB in a year).
--
-- Projection readings has a brand's readings of a day in few rows, for the hourly sweep of rereads over the whole
-- table.
CREATE TABLE IF NOT EXISTS answers
(
    organization_id                UUID COMMENT 'organization of the brand',
    brand_id                       UUID COMMENT 'id of the brand',
    day                            Date COMMENT 'UTC day',
    id                             UUID COMMENT 'id of the run, in all its rows',
    sign                           Int8 COMMENT '1: the row counts, -1: it takes an earlier one back. Figures are sums of sign x value',
    revision                       Int64 COMMENT 'revision of the brand by which it was read',
    extract_version                UInt16 COMMENT 'version of the extractor that read it',
    log_topic                      LowCardinality(String) COMMENT 'position of the record on the log',
    log_partition                  Int32 COMMENT 'position of the record on the log',
    log_offset                     Int64 COMMENT 'position of the record on the log' CODEC(Delta, ZSTD(1)),

    answered_at                    DateTime64(3, 'UTC') COMMENT 'UTC time of the answer, or when the run was given up' CODEC(Delta, ZSTD(1)),
    platform                       LowCardinality(String) COMMENT 'slug of the AI platform, of a crawl the one it crawls for, empty: none',
    model                          LowCardinality(String) COMMENT 'requested model, empty: none',
    served_model                   LowCardinality(String) COMMENT 'model that answered, empty: unknown',
    provider                       LowCardinality(String) COMMENT 'who captured the surface, empty: the platform was asked itself',
    region                         LowCardinality(String) COMMENT 'requested region, empty: none',
    language                       LowCardinality(String) COMMENT 'requested language, empty: unknown',
    surface                        LowCardinality(String) COMMENT 'api or consumer, empty: unknown',
    sample                         Int64 COMMENT '1-based, of otherwise equal runs',
    prompt_id                      UUID COMMENT 'prompt that was asked',
    prompt_set_id                  UUID COMMENT 'set of the prompt when it was asked',
    topic_id                       UUID COMMENT 'topic of the prompt when it was asked, nil: none',
    prompt_text                    String COMMENT 'text of the prompt' CODEC(ZSTD(1)),
    is_branded                     Nullable(Bool) COMMENT 'branded as set on the prompt, NULL: not set',
    branded                        Bool COMMENT 'the prompt names the brand',
    job_id                         UUID COMMENT 'job of the run, nil: none',
    simulated                      Bool COMMENT 'made by the simulator',

    given_up                       Bool COMMENT 'the run ended without an answer. Counted in runs and given_up only',
    given_up_class                 LowCardinality(String) COMMENT 'rate_limited, quota, auth, invalid, unavailable, timeout, content_filtered or changed_shape, empty: not given up',
    given_up_error                 String COMMENT 'error of the platform, empty: not given up' CODEC(ZSTD(1)),
    attempts                       UInt32 COMMENT 'attempts until the run ended',
    latency_ms                     Int64 COMMENT 'milliseconds until the answer, 0: unknown',
    finish                         LowCardinality(String) COMMENT 'complete, truncated, content_filtered or not_shown, empty: unknown',
    answered                       Bool MATERIALIZED NOT given_up AND finish != 'not_shown' COMMENT 'the run has an answer. A surface that had none is counted in runs and not_shown only',

    text                           String COMMENT 'text of the answer. First row of an id only' CODEC(ZSTD(3)),
    search_queries                 Array(String) COMMENT 'what the platform searched for. First row only' CODEC(ZSTD(1)),
    `raw_citations.url`            Array(String) COMMENT 'citations as returned, in order. First row only',
    `raw_citations.title`          Array(String) COMMENT 'title',
    `raw_citations.cited`          Array(Bool) COMMENT 'false: only consulted',
    raw_products                   String COMMENT 'shopping cards as returned, JSON. First row only' CODEC(ZSTD(1)),
    input_tokens                   Int64 COMMENT 'usage of the run. First row only',
    output_tokens                  Int64 COMMENT 'usage of the run. First row only',
    searches                       Int64 COMMENT 'usage of the run. First row only',
    cost_usd                       Decimal(18, 6) COMMENT 'usage of the run. First row only',

    brand_name                     String COMMENT 'name of the brand at the reading' CODEC(ZSTD(1)),
    mention_count                  UInt32 COMMENT 'occurrences of its names in the text',
    position                       UInt32 COMMENT 'rank among brand and competitors by first mention, 0: not mentioned',
    citation_count                 UInt32 COMMENT 'citations of its pages',
    visibility_score               UInt8 COMMENT 'legacy intensity, 0 to 100',
    sentiment                      LowCardinality(String) COMMENT 'positive, neutral, negative or unknown',
    sentiment_method               LowCardinality(String) COMMENT 'method of the sentiment',

    `competitors.id`               Array(UUID) COMMENT 'competitors at the reading, mentioned or not',
    `competitors.name`             Array(String) COMMENT 'name at the reading',
    `competitors.mention_count`    Array(UInt32) COMMENT 'of each competitor, as of the brand',
    `competitors.position`         Array(UInt32) COMMENT 'of each competitor, as of the brand',
    `competitors.citation_count`   Array(UInt32) COMMENT 'of each competitor, as of the brand',
    `competitors.visibility_score` Array(UInt16) COMMENT 'of each competitor, as of the brand',
    `competitors.sentiment`        Array(String) COMMENT 'of each competitor, as of the brand',

    `citations.url`                Array(String) COMMENT 'URLs of the answer, normalised, each once',
    `citations.title`              Array(String) COMMENT 'first non-empty title, empty: none',
    `citations.cited`              Array(Bool) COMMENT 'false: only consulted, in no figure',
    `citations.host`               Array(String) COMMENT 'host without www.',
    `citations.domain`             Array(String) COMMENT 'of each URL, as in citations',
    `citations.listed_type`        Array(String) COMMENT 'of each URL, as in citations',
    `citations.owned`              Array(Bool) COMMENT 'of each URL, as in citations',
    `citations.competitor_id`      Array(UUID) COMMENT 'of each URL, as in citations',

    `cards.position`               Array(UInt32) COMMENT 'of each card, as in shopping_cards',
    `cards.title`                  Array(String) COMMENT 'of each card, as in shopping_cards',
    `cards.brand`                  Array(String) COMMENT 'of each card, as in shopping_cards',
    `cards.price_amount`           Array(Nullable(Decimal(18, 4))) COMMENT 'of each card, as in shopping_cards',
    `cards.price_currency`         Array(String) COMMENT 'of each card, as in shopping_cards',
    `cards.image_url`              Array(String) COMMENT 'of each card, as in shopping_cards',
    `cards.merchant`               Array(String) COMMENT 'of each card, as in shopping_cards',
    `cards.merchant_url`           Array(String) COMMENT 'of each card, as in shopping_cards',
    `cards.merchant_domain`        Array(String) COMMENT 'of each card, as in shopping_cards',
    `cards.rating`                 Array(Nullable(Float64)) COMMENT 'of each card, as in shopping_cards',
    `cards.review_count`           Array(Nullable(Int64)) COMMENT 'of each card, as in shopping_cards',
    `cards.matched_id`             Array(UUID) COMMENT 'of each card, as in shopping_cards',
    `cards.role`                   Array(String) COMMENT 'of each card, as in shopping_cards',

    PROJECTION readings
    (
        SELECT organization_id, brand_id, day, revision, extract_version, sum(sign)
        GROUP BY organization_id, brand_id, day, revision, extract_version
    )
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(day)
ORDER BY (organization_id, brand_id, day, id)
SETTINGS non_replicated_deduplication_window = 50000, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 480, remove_empty_parts = 0, ttl_only_drop_parts = 1, materialize_ttl_recalculate_only = 1, lightweight_mutation_projection_mode = 'rebuild', index_granularity_bytes = 2097152
COMMENT 'Every record of every run with its reading. A correction is two more rows, of sign -1 and 1. The rollups are faster.';
