-- The landing table of topic answers: one row per telling of a run, as it was
-- told and as it was read. Nothing merges rows away, since a replay looks up
-- what has landed. All figures come from the views on this table.
--
-- A correction is two rows of one insert: the landed row again with sign -1,
-- the new reading with sign +1. Text, citations as returned, search queries,
-- products and usage stay on an id's first row.
--
-- topic_id and job_id are the nil UUID, position is 0 where there is none.
CREATE TABLE IF NOT EXISTS answers
(
    organization_id     UUID,
    brand_id            UUID,
    day                 Date COMMENT 'UTC day of answered_at',
    id                  UUID,
    sign                Int8,
    revision            Int64 COMMENT 'of the brand names, aliases, domains and competitors that judged the row',
    extract_version     UInt16,
    log_topic           LowCardinality(String),
    log_partition       Int32,
    log_offset          Int64 CODEC(Delta, ZSTD(1)),

    answered_at         DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
    platform            LowCardinality(String),
    model               LowCardinality(String) COMMENT 'requested slug',
    served_model        LowCardinality(String),
    region              LowCardinality(String),
    language            LowCardinality(String),
    surface             LowCardinality(String),
    sample              Int64,
    prompt_id           UUID,
    prompt_set_id       UUID,
    topic_id            UUID,
    prompt_text         String CODEC(ZSTD(1)),
    is_branded          Nullable(Bool) COMMENT 'as set on the prompt, NULL: decided by its text',
    branded             Bool COMMENT 'as read',
    job_id              UUID,
    simulated           Bool,

    given_up            Bool,
    given_up_class      LowCardinality(String),
    given_up_error      String CODEC(ZSTD(1)),
    attempts            UInt32,
    latency_ms          Int64,
    finish              LowCardinality(String),

    text                String CODEC(ZSTD(3)),
    search_queries      Array(String) CODEC(ZSTD(1)),
    raw_citations       Nested(url String, title String, cited Bool),
    raw_products        String COMMENT 'JSON, as told' CODEC(ZSTD(1)),
    input_tokens        Int64,
    output_tokens       Int64,
    searches            Int64,
    cost_usd            Decimal(18, 6),

    brand_name          String CODEC(ZSTD(1)),
    mention_count       UInt32,
    position            UInt32 COMMENT '1-based among the tracked entities, 0: not named',
    citation_count      UInt32 COMMENT 'citations to the brand''s own domains',
    visibility_score    UInt8,
    sentiment           LowCardinality(String),
    sentiment_method    LowCardinality(String),

    competitors         Nested(id UUID, name String, mention_count UInt32, position UInt32, citation_count UInt32, visibility_score UInt16, sentiment String),
    citations           Nested(url String, title String, cited Bool, host String, domain String, listed_type String, owned Bool, competitor_id UUID),
    cards               Nested(position UInt32, title String, brand String, price_amount Nullable(Decimal(18, 4)), price_currency String, image_url String, merchant_url String, merchant_domain String, rating Nullable(Float64), review_count Nullable(Int64), matched_id UUID, role String)
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(day)
ORDER BY (organization_id, brand_id, day, id)
SETTINGS non_replicated_deduplication_window = 50000, fsync_after_insert = 1, fsync_part_directory = 1;
