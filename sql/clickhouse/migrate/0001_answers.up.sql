-- The landing table of topic answers: one row per record of a run, as it came and as it was read. Nothing merges rows
-- away, since a replay looks up what has landed. All figures come from the views on this table.
--
-- A correction is two rows of one insert: the current row again with sign -1, the new reading with sign +1. Text,
-- citations as returned, search queries, products and usage stay on an id's first row.
--
-- Empty parts stay, in every table of facts (remove_empty_parts = 0): a purge or an expiry may leave a part without
-- rows, the server would remove it within a minute, and the tokens of its inserts with it. A replay then brought back
-- what was deleted (200 rows of 100). Expiry drops whole parts and rewrites none: a partition is a month.
--
-- Projection readings has the readings of a brand's answers on a day in few rows: the sweep of rereads asks for them
-- every hour, over the whole table. It is made, merged and expired with its part.
CREATE TABLE IF NOT EXISTS answers
(
    organization_id                UUID COMMENT 'organization that the brand belongs to',
    brand_id                       UUID COMMENT 'brand that the answers are read for',
    day                            Date COMMENT 'UTC day of answered_at',
    id                             UUID COMMENT 'of the run, the same in all its rows',
    sign                           Int8 COMMENT '1: this reading counts, -1: an earlier reading is taken back. Figures are sums of sign x value',
    revision                       Int64 COMMENT 'of the brand names, aliases, domains and competitors that judged the row',
    extract_version                UInt16 COMMENT 'of the rules by which the row was read',
    log_topic                      LowCardinality(String) COMMENT 'topic of the record, with its prefix',
    log_partition                  Int32 COMMENT 'partition of the record',
    log_offset                     Int64 COMMENT 'offset of the record in its partition' CODEC(Delta, ZSTD(1)),

    answered_at                    DateTime64(3, 'UTC') COMMENT 'when the answer came, or the run was given up, UTC' CODEC(Delta, ZSTD(1)),
    platform                       LowCardinality(String) COMMENT 'slug of the AI platform that was asked',
    model                          LowCardinality(String) COMMENT 'requested model, empty: none was named',
    served_model                   LowCardinality(String) COMMENT 'model that the platform says has answered, empty: not said',
    region                         LowCardinality(String) COMMENT 'region that was asked for, empty: none',
    language                       LowCardinality(String) COMMENT 'language that was asked in, empty: not said',
    surface                        LowCardinality(String) COMMENT 'api or consumer: where the answer was taken, empty: not said',
    sample                         Int64 COMMENT '1-based: of runs that are alike but for it',
    prompt_id                      UUID COMMENT 'prompt that was asked',
    prompt_set_id                  UUID COMMENT 'set that the prompt was in when it was asked',
    topic_id                       UUID COMMENT 'topic of the prompt when it was asked, nil: none',
    prompt_text                    String COMMENT 'what was asked' CODEC(ZSTD(1)),
    is_branded                     Nullable(Bool) COMMENT 'as set on the prompt, NULL: decided by its text',
    branded                        Bool COMMENT 'the prompt names the brand, as set on it or as read from its text',
    job_id                         UUID COMMENT 'job that asked, nil: none',
    simulated                      Bool COMMENT 'made by the simulator, no platform was asked',

    given_up                       Bool COMMENT 'the run ended without an answer. Such rows are in no figure but runs and given_up',
    given_up_class                 LowCardinality(String) COMMENT 'rate_limited, quota, auth, invalid, unavailable, timeout, content_filtered or changed_shape, empty: not given up',
    given_up_error                 String COMMENT 'what the platform said, empty: not given up' CODEC(ZSTD(1)),
    attempts                       UInt32 COMMENT 'how often the platform was asked until the run ended',
    latency_ms                     Int64 COMMENT 'milliseconds until the answer was there, 0: not said',
    finish                         LowCardinality(String) COMMENT 'how the text ended: complete, truncated or content_filtered, empty: not said',

    text                           String COMMENT 'the answer, on the first row of an id only' CODEC(ZSTD(3)),
    search_queries                 Array(String) COMMENT 'what the platform searched for, on the first row of an id only' CODEC(ZSTD(1)),
    `raw_citations.url`            Array(String) COMMENT 'citations as returned, in order, on the first row of an id only',
    `raw_citations.title`          Array(String) COMMENT 'of raw_citations.url',
    `raw_citations.cited`          Array(Bool) COMMENT 'of raw_citations.url, false: only consulted',
    raw_products                   String COMMENT 'shopping cards as returned, JSON, on the first row of an id only' CODEC(ZSTD(1)),
    input_tokens                   Int64 COMMENT 'tokens of what was asked, on the first row of an id only',
    output_tokens                  Int64 COMMENT 'tokens of the answer, on the first row of an id only',
    searches                       Int64 COMMENT 'searches that the platform made, on the first row of an id only',
    cost_usd                       Decimal(18, 6) COMMENT 'cost of the run in US dollars, on the first row of an id only',

    brand_name                     String COMMENT 'name of the brand when the row was read' CODEC(ZSTD(1)),
    mention_count                  UInt32 COMMENT 'occurrences of names of the brand in the text',
    position                       UInt32 COMMENT '1-based among the tracked entities, 0: not named',
    citation_count                 UInt32 COMMENT 'citations to the brand''s own domains',
    visibility_score               UInt8 COMMENT 'legacy intensity of the brand in the answer, 0 to 100',
    sentiment                      LowCardinality(String) COMMENT 'of the sentences that name the brand: positive, neutral, negative or unknown',
    sentiment_method               LowCardinality(String) COMMENT 'source of the sentiment',

    `competitors.id`               Array(UUID) COMMENT 'competitors that the answer was read for, named or not',
    `competitors.name`             Array(String) COMMENT 'of competitors.id, when the row was read',
    `competitors.mention_count`    Array(UInt32) COMMENT 'of competitors.id: occurrences of their names',
    `competitors.position`         Array(UInt32) COMMENT 'of competitors.id: 1-based among the tracked entities, 0: not named',
    `competitors.citation_count`   Array(UInt32) COMMENT 'of competitors.id: citations of pages on their domains',
    `competitors.visibility_score` Array(UInt16) COMMENT 'of competitors.id: legacy intensity, 0 to 100',
    `competitors.sentiment`        Array(String) COMMENT 'of competitors.id: positive, neutral, negative or unknown',

    `citations.url`                Array(String) COMMENT 'URLs of the answer, normalised, once each',
    `citations.title`              Array(String) COMMENT 'of citations.url: the first non-empty one, empty: none has one',
    `citations.cited`              Array(Bool) COMMENT 'of citations.url, false: only consulted, in no figure',
    `citations.host`               Array(String) COMMENT 'of citations.url, without www.',
    `citations.domain`             Array(String) COMMENT 'of citations.url: registrable domain of the host',
    `citations.listed_type`        Array(String) COMMENT 'of citations.url: forum, social, review, institutional or editorial, without regard to who owns the domain',
    `citations.owned`              Array(Bool) COMMENT 'of citations.url: it is on a domain of the brand',
    `citations.competitor_id`      Array(UUID) COMMENT 'of citations.url: competitor on whose domain it is, nil: no competitor''s',

    `cards.position`               Array(UInt32) COMMENT 'shopping cards: 1-based place in the answer',
    `cards.title`                  Array(String) COMMENT 'of a card: title of the product',
    `cards.brand`                  Array(String) COMMENT 'of a card: brand of the product as returned, empty: not said',
    `cards.price_amount`           Array(Nullable(Decimal(18, 4))) COMMENT 'of a card: price in cards.price_currency, NULL: not said',
    `cards.price_currency`         Array(String) COMMENT 'of a card: ISO 4217, empty: not said',
    `cards.image_url`              Array(String) COMMENT 'of a card, empty: not said',
    `cards.merchant_url`           Array(String) COMMENT 'of a card: where it is sold, empty: not said',
    `cards.merchant_domain`        Array(String) COMMENT 'of a card: registrable domain of cards.merchant_url',
    `cards.rating`                 Array(Nullable(Float64)) COMMENT 'of a card: as returned, NULL: not said',
    `cards.review_count`           Array(Nullable(Int64)) COMMENT 'of a card: as returned, NULL: not said',
    `cards.matched_id`             Array(UUID) COMMENT 'of a card: brand or competitor whose product it is, nil: neither',
    `cards.role`                   Array(String) COMMENT 'of a card: own, competitor or other',

    PROJECTION readings
    (
        SELECT organization_id, brand_id, day, revision, extract_version, sum(sign)
        GROUP BY organization_id, brand_id, day, revision, extract_version
    )
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(day)
ORDER BY (organization_id, brand_id, day, id)
SETTINGS non_replicated_deduplication_window = 50000, fsync_after_insert = 1, fsync_part_directory = 1, remove_empty_parts = 0, ttl_only_drop_parts = 1, materialize_ttl_recalculate_only = 1, lightweight_mutation_projection_mode = 'rebuild'
COMMENT 'Every record of every run, as it came and as it was read. A correction is two more rows, of sign -1 and 1. The rollups are faster.';
