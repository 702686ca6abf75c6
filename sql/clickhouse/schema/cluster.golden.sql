-- 0001_answers.up.sql
CREATE TABLE IF NOT EXISTS answers_local
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
ENGINE = ReplicatedMergeTree('/clickhouse/answerscope/{database}/{shard}/answers', '{replica}')
PARTITION BY toYYYYMM(day)
ORDER BY (organization_id, brand_id, day, id)
SETTINGS replicated_deduplication_window = 50000, replicated_deduplication_window_seconds = 604800, fsync_after_insert = 1, fsync_part_directory = 1, remove_empty_parts = 0, ttl_only_drop_parts = 1, materialize_ttl_recalculate_only = 1, lightweight_mutation_projection_mode = 'rebuild'
COMMENT 'Every record of every run, as it came and as it was read. A correction is two more rows, of sign -1 and 1. The rollups are faster.';

CREATE TABLE IF NOT EXISTS answers AS answers_local
ENGINE = Distributed('answerscope', currentDatabase(), 'answers_local')
COMMENT 'Every record of every run, as it came and as it was read. A correction is two more rows, of sign -1 and 1. The rollups are faster.';

-- 0002_answer_daily.up.sql
CREATE TABLE IF NOT EXISTS answer_daily_local
(
    organization_id  UUID COMMENT 'organization that the brand belongs to',
    brand_id         UUID COMMENT 'brand that the answers are read for',
    day              Date COMMENT 'UTC day of the answers',
    platform         LowCardinality(String) COMMENT 'slug of the AI platform that answered',
    model            LowCardinality(String) COMMENT 'requested model, empty: none was named',
    region           LowCardinality(String) COMMENT 'region that was asked for, empty: none',
    topic_id         UUID COMMENT 'topic of the prompt when it was asked, nil: none',
    branded          Bool COMMENT 'the prompt names the brand',
    served_model     LowCardinality(String) COMMENT 'model that the platform says has answered, empty: not said',
    runs             Int64 COMMENT 'answers and given-up runs',
    given_up         Int64 COMMENT 'runs that ended without an answer',
    answers          Int64 COMMENT 'answers, by which rates and averages are divided',
    mention_answers  Int64 COMMENT 'answers that name the brand',
    citation_answers Int64 COMMENT 'answers that cite a page of the brand',
    inverse_position Int64 COMMENT 'sum of 1/position over the answers that name the brand, in 1/5354228880ths',
    mentions         Int64 COMMENT 'occurrences of names of the brand',
    citations        Int64 COMMENT 'citations of pages on domains of the brand',
    visibility       Int64 COMMENT 'sum of visibility_score over all answers, each 0 to 100',
    visibility_named Int64 COMMENT 'sum of visibility_score over the answers that name the brand, each 0 to 100'
)
ENGINE = ReplicatedSummingMergeTree('/clickhouse/answerscope/{database}/{shard}/answer_daily', '{replica}')
PARTITION BY toYYYYMM(day)
ORDER BY (organization_id, brand_id, day, platform, model, region, topic_id, branded, served_model)
SETTINGS replicated_deduplication_window = 50000, replicated_deduplication_window_seconds = 604800, fsync_after_insert = 1, fsync_part_directory = 1, remove_empty_parts = 0, min_bytes_for_wide_part = 1073741824
COMMENT 'Sums of the answers of a brand by day and every filter. Rows of one key may be several until they merge: sum them. Shopping platforms are left out.';

CREATE TABLE IF NOT EXISTS answer_daily AS answer_daily_local
ENGINE = Distributed('answerscope', currentDatabase(), 'answer_daily_local')
COMMENT 'Sums of the answers of a brand by day and every filter. Rows of one key may be several until they merge: sum them. Shopping platforms are left out.';

CREATE MATERIALIZED VIEW IF NOT EXISTS answer_daily_view TO answer_daily_local AS
SELECT
    organization_id,
    brand_id,
    day,
    platform,
    model,
    region,
    topic_id,
    branded,
    served_model,
    sum(sign)                                                                AS runs,
    sum(sign * landed.given_up)                                                AS given_up,
    sum(sign * NOT landed.given_up)                                            AS answers,
    sum(sign * (mention_count > 0))                                          AS mention_answers,
    sum(sign * (citation_count > 0))                                         AS citation_answers,
    sum(sign * if(position = 0, 0, toInt64(round(5354228880 / position))))   AS inverse_position,
    sum(sign * mention_count)                                                AS mentions,
    sum(sign * citation_count)                                               AS citations,
    sum(sign * visibility_score)                                             AS visibility,
    sum(sign * if(mention_count > 0, visibility_score, 0))                   AS visibility_named
FROM answers_local AS landed
WHERE NOT endsWith(platform, '-shopping')
GROUP BY organization_id, brand_id, day, platform, model, region, topic_id, branded, served_model;

-- 0003_entity_prompt_daily.up.sql
CREATE TABLE IF NOT EXISTS entity_prompt_daily_local
(
    organization_id  UUID COMMENT 'organization that the brand belongs to',
    brand_id         UUID COMMENT 'brand that the answers are read for',
    day              Date COMMENT 'UTC day of the answers',
    platform         LowCardinality(String) COMMENT 'slug of the AI platform that answered',
    model            LowCardinality(String) COMMENT 'requested model, empty: none was named',
    region           LowCardinality(String) COMMENT 'region that was asked for, empty: none',
    topic_id         UUID COMMENT 'topic of the prompt when it was asked, nil: none',
    branded          Bool COMMENT 'the prompt names the brand',
    prompt_id        UUID COMMENT 'prompt that was asked',
    entity_id        UUID COMMENT 'whose sums these are: the brand itself (its brand_id), or a competitor, deleted ones too',
    runs             Int64 COMMENT 'answers and given-up runs, 0 on rows of competitors',
    given_up         Int64 COMMENT 'runs that ended without an answer, 0 on rows of competitors',
    answers          Int64 COMMENT 'answers, by which rates and averages of everybody are divided, 0 on rows of competitors',
    mention_answers  Int64 COMMENT 'answers that name the entity',
    citation_answers Int64 COMMENT 'answers that cite a page of the entity',
    visible_answers  Int64 COMMENT 'answers that name the entity or cite a page of it',
    inverse_position Int64 COMMENT 'sum of 1/position over the answers that name the entity, in 1/5354228880ths',
    mentions         Int64 COMMENT 'occurrences of names of the entity',
    citations        Int64 COMMENT 'citations of pages on domains of the entity',
    visibility       Int64 COMMENT 'sum of visibility_score over all answers, each 0 to 100',
    visibility_named Int64 COMMENT 'sum of visibility_score over the answers that name the entity, each 0 to 100'
)
ENGINE = ReplicatedSummingMergeTree('/clickhouse/answerscope/{database}/{shard}/entity_prompt_daily', '{replica}')
PARTITION BY toYYYYMM(day)
ORDER BY (organization_id, brand_id, day, platform, model, region, topic_id, branded, prompt_id, entity_id)
SETTINGS replicated_deduplication_window = 50000, replicated_deduplication_window_seconds = 604800, fsync_after_insert = 1, fsync_part_directory = 1, index_granularity = 1024, remove_empty_parts = 0, min_bytes_for_wide_part = 1073741824
COMMENT 'The sums of answer_daily by prompt, of the brand and of each competitor. Rows of one key may be several until they merge: sum them.';

CREATE TABLE IF NOT EXISTS entity_prompt_daily AS entity_prompt_daily_local
ENGINE = Distributed('answerscope', currentDatabase(), 'entity_prompt_daily_local')
COMMENT 'The sums of answer_daily by prompt, of the brand and of each competitor. Rows of one key may be several until they merge: sum them.';

CREATE MATERIALIZED VIEW IF NOT EXISTS entity_prompt_daily_view TO entity_prompt_daily_local AS
SELECT
    organization_id,
    brand_id,
    day,
    platform,
    model,
    region,
    topic_id,
    branded,
    prompt_id,
    entity_id,
    sum(sign * own)                                                                         AS runs,
    sum(sign * (own AND landed.given_up))                                                     AS given_up,
    sum(sign * (own AND NOT landed.given_up))                                                 AS answers,
    sum(sign * (named > 0))                                                                 AS mention_answers,
    sum(sign * (cited > 0))                                                                 AS citation_answers,
    sum(sign * (named > 0 OR cited > 0))                                                    AS visible_answers,
    sum(sign * if(place = 0, 0, toInt64(round(5354228880 / place))))                        AS inverse_position,
    sum(sign * named)                                                                       AS mentions,
    sum(sign * cited)                                                                       AS citations,
    sum(sign * score)                                                                       AS visibility,
    sum(sign * if(named > 0, score, 0))                                                     AS visibility_named
FROM answers_local AS landed
ARRAY JOIN
    arrayPushFront(landed.competitors.id, brand_id)                                           AS entity_id,
    arrayPushFront(landed.competitors.mention_count, landed.mention_count)                      AS named,
    arrayPushFront(landed.competitors.position, landed.position)                                AS place,
    arrayPushFront(landed.competitors.citation_count, landed.citation_count)                    AS cited,
    arrayPushFront(landed.competitors.visibility_score, toUInt16(landed.visibility_score))      AS score,
    arrayMap(n -> n = 1, arrayEnumerate(arrayPushFront(landed.competitors.id, brand_id)))     AS own
WHERE NOT endsWith(platform, '-shopping')
  AND (own OR named > 0 OR cited > 0)
GROUP BY organization_id, brand_id, day, platform, model, region, topic_id, branded, prompt_id, entity_id;

-- 0004_citations.up.sql
CREATE TABLE IF NOT EXISTS citations_local
(
    organization_id UUID COMMENT 'organization that the brand belongs to',
    brand_id        UUID COMMENT 'brand that the answers are read for',
    day             Date COMMENT 'UTC day of the answers',
    platform        LowCardinality(String) COMMENT 'slug of the AI platform that answered',
    model           LowCardinality(String) COMMENT 'requested model, empty: none was named',
    region          LowCardinality(String) COMMENT 'region that was asked for, empty: none',
    topic_id        UUID COMMENT 'topic of the prompt when it was asked, nil: none',
    branded         Bool COMMENT 'the prompt names the brand',
    prompt_id       UUID COMMENT 'prompt that was asked',
    answer_id       UUID COMMENT 'id of the answer',
    url             String COMMENT 'cited URL, normalised' CODEC(ZSTD(1)),
    domain          LowCardinality(String) COMMENT 'registrable domain of the host',
    title           String COMMENT 'as the answer gives it, empty: none' CODEC(ZSTD(1)),
    listed_type     LowCardinality(String) COMMENT 'forum, social, review, institutional or editorial, without regard to who owns the domain',
    owned           Bool COMMENT 'it is on a domain of the brand',
    competitor_id   UUID COMMENT 'competitor on whose domain it is, nil: no competitor''s',
    sign            Int8 COMMENT '1: the row counts, -1: an earlier one is taken back'
)
ENGINE = ReplicatedMergeTree('/clickhouse/answerscope/{database}/{shard}/citations', '{replica}')
PARTITION BY toYYYYMM(day)
ORDER BY (organization_id, brand_id, day, domain, url, answer_id)
SETTINGS replicated_deduplication_window = 50000, replicated_deduplication_window_seconds = 604800, fsync_after_insert = 1, fsync_part_directory = 1, remove_empty_parts = 0
COMMENT 'One row per answer and URL that it cites, and per correction. What counts are the URLs of an answer whose signs sum to 1. citation_daily is faster.';

CREATE TABLE IF NOT EXISTS citations AS citations_local
ENGINE = Distributed('answerscope', currentDatabase(), 'citations_local')
COMMENT 'One row per answer and URL that it cites, and per correction. What counts are the URLs of an answer whose signs sum to 1. citation_daily is faster.';

CREATE MATERIALIZED VIEW IF NOT EXISTS citations_view TO citations_local AS
SELECT
    organization_id,
    brand_id,
    day,
    platform,
    model,
    region,
    topic_id,
    branded,
    prompt_id,
    id AS answer_id,
    c.url AS url,
    c.domain AS domain,
    c.title AS title,
    c.listed_type AS listed_type,
    c.owned AS owned,
    c.competitor_id AS competitor_id,
    sign
FROM answers_local
ARRAY JOIN citations AS c
WHERE NOT endsWith(platform, '-shopping')
  AND c.cited;

-- 0005_citation_daily.up.sql
CREATE TABLE IF NOT EXISTS citation_daily_local
(
    organization_id       UUID COMMENT 'organization that the brand belongs to',
    brand_id              UUID COMMENT 'brand that the answers are read for',
    day                   Date COMMENT 'UTC day of the answers',
    domain                LowCardinality(String) COMMENT 'registrable domain of the cited host',
    url                   String COMMENT 'cited URL, normalised, empty: the row counts answers',
    title                 String COMMENT 'as the answers give it, empty: none',
    source_type           LowCardinality(String) COMMENT 'owned, competitor, forum, social, review, institutional or editorial: the first that fits',
    competitor_id         UUID COMMENT 'competitor whose domain it is, nil: no competitor''s',
    platform              LowCardinality(String) COMMENT 'slug of the AI platform that answered',
    model                 LowCardinality(String) COMMENT 'requested model, empty: none was named',
    region                LowCardinality(String) COMMENT 'region that was asked for, empty: none',
    topic_id              UUID COMMENT 'topic of the prompt when it was asked, nil: none',
    branded               Bool COMMENT 'the prompt names the brand',
    entry                 UInt128 COMMENT 'hash of domain, url, title, source_type and model',
    answers               Int64 COMMENT 'answers, whatever they cite: in rows without a url',
    citations             Int64 COMMENT 'citations, which are answers that cite the url',
    citing_answers        Int64 COMMENT 'citations that are the first of their answer',
    citing_answers_source Int64 COMMENT 'the first of their answer among owned, a competitor''s or external ones',
    domain_answers        Int64 COMMENT 'the first of their answer to the domain',
    domain_answers_source Int64 COMMENT 'the first of their answer to the domain among owned, a competitor''s or external ones'
)
ENGINE = ReplicatedSummingMergeTree('/clickhouse/answerscope/{database}/{shard}/citation_daily', '{replica}', (answers, citations, citing_answers, citing_answers_source, domain_answers, domain_answers_source))
PARTITION BY toYYYYMM(day)
ORDER BY (organization_id, brand_id, day, domain, url, title, source_type, competitor_id, platform, model, region, topic_id, branded)
SETTINGS replicated_deduplication_window = 50000, replicated_deduplication_window_seconds = 604800, fsync_after_insert = 1, fsync_part_directory = 1, remove_empty_parts = 0
COMMENT 'What answers cite by day, page and every filter, and how many answers there are. Rows of one key may be several until they merge: sum them.';

CREATE TABLE IF NOT EXISTS citation_daily AS citation_daily_local
ENGINE = Distributed('answerscope', currentDatabase(), 'citation_daily_local')
COMMENT 'What answers cite by day, page and every filter, and how many answers there are. Rows of one key may be several until they merge: sum them.';

CREATE MATERIALIZED VIEW IF NOT EXISTS citation_daily_view TO citation_daily_local AS
WITH arrayMap(
        (owned, rival, listed) -> multiIf(owned, 'owned', rival != toUUID('00000000-0000-0000-0000-000000000000'), 'competitor', listed),
        landed.citations.owned, landed.citations.competitor_id, landed.citations.listed_type) AS types,
    arrayMap(type -> if(type IN ('owned', 'competitor'), type, 'external'), types) AS sources
SELECT
    organization_id,
    brand_id,
    day,
    domain,
    url,
    title,
    source_type,
    competitor_id,
    platform,
    model,
    region,
    topic_id,
    branded,
    reinterpretAsUInt128(sipHash128(domain, url, title, source_type, model)) AS entry,
    sign * (url = '')               AS answers,
    sign * (url != '')              AS citations,
    sign * (of_answer = 1)          AS citing_answers,
    sign * (of_answer_source = 1)   AS citing_answers_source,
    sign * (of_domain = 1)          AS domain_answers,
    sign * (of_domain_source = 1)   AS domain_answers_source
FROM answers_local AS landed
ARRAY JOIN
    arrayPushFront(landed.citations.url, '') AS url,
    arrayPushFront(landed.citations.title, '') AS title,
    arrayPushFront(landed.citations.cited, true) AS cited,
    arrayPushFront(landed.citations.domain, '') AS domain,
    arrayPushFront(types, '') AS source_type,
    arrayPushFront(landed.citations.competitor_id, toUUID('00000000-0000-0000-0000-000000000000')) AS competitor_id,
    arrayPushFront(arrayEnumerateUniq(landed.citations.cited), 0) AS of_answer,
    arrayPushFront(arrayEnumerateUniq(landed.citations.cited, sources), 0) AS of_answer_source,
    arrayPushFront(arrayEnumerateUniq(landed.citations.cited, landed.citations.domain), 0) AS of_domain,
    arrayPushFront(arrayEnumerateUniq(landed.citations.cited, landed.citations.domain, sources), 0) AS of_domain_source
WHERE NOT endsWith(platform, '-shopping')
  AND NOT given_up
  AND cited;

-- 0006_shopping_cards.up.sql
CREATE TABLE IF NOT EXISTS shopping_cards_local
(
    organization_id UUID COMMENT 'organization that the brand belongs to',
    brand_id        UUID COMMENT 'brand that the answers are read for',
    day             Date COMMENT 'UTC day of the answers',
    platform        LowCardinality(String) COMMENT 'slug of the AI platform that answered',
    model           LowCardinality(String) COMMENT 'requested model, empty: none was named',
    region          LowCardinality(String) COMMENT 'region that was asked for, empty: none',
    topic_id        UUID COMMENT 'topic of the prompt when it was asked, nil: none',
    branded         Bool COMMENT 'the prompt names the brand',
    answered_at     DateTime64(3, 'UTC') COMMENT 'when the answer came, UTC',
    answer_id       UUID COMMENT 'id of the answer',
    id              UUID COMMENT 'of the card, from the id of the answer and the place in it',
    position        UInt32 COMMENT '1-based place in the answer',
    title           String COMMENT 'title of the product' CODEC(ZSTD(1)),
    product_brand   String COMMENT 'brand of the product as returned, empty: not said' CODEC(ZSTD(1)),
    price_amount    Nullable(Decimal(18, 4)) COMMENT 'price in price_currency, NULL: not said',
    price_currency  LowCardinality(String) COMMENT 'ISO 4217, empty: not said',
    image_url       String COMMENT 'empty: not said' CODEC(ZSTD(1)),
    merchant_url    String COMMENT 'where it is sold, empty: not said' CODEC(ZSTD(1)),
    merchant_domain String COMMENT 'registrable domain of merchant_url' CODEC(ZSTD(1)),
    rating          Nullable(Float64) COMMENT 'as returned, NULL: not said',
    review_count    Nullable(Int64) COMMENT 'as returned, NULL: not said',
    matched_id      UUID COMMENT 'brand or competitor whose product it is, nil: neither',
    role            LowCardinality(String) COMMENT 'own, competitor or other',
    sign            Int8 COMMENT '1: the row counts, -1: an earlier one is taken back'
)
ENGINE = ReplicatedMergeTree('/clickhouse/answerscope/{database}/{shard}/shopping_cards', '{replica}')
PARTITION BY toYYYYMM(day)
ORDER BY (organization_id, brand_id, day, answered_at, id)
SETTINGS replicated_deduplication_window = 50000, replicated_deduplication_window_seconds = 604800, fsync_after_insert = 1, fsync_part_directory = 1, remove_empty_parts = 0
COMMENT 'One row per shopping card, and per correction. Those whose signs sum to 1 count.';

CREATE TABLE IF NOT EXISTS shopping_cards AS shopping_cards_local
ENGINE = Distributed('answerscope', currentDatabase(), 'shopping_cards_local')
COMMENT 'One row per shopping card, and per correction. Those whose signs sum to 1 count.';

CREATE MATERIALIZED VIEW IF NOT EXISTS shopping_cards_view TO shopping_cards_local AS
SELECT
    organization_id,
    brand_id,
    day,
    platform,
    model,
    region,
    topic_id,
    branded,
    answered_at,
    landed.id AS answer_id,
    reinterpretAsUUID(sipHash128(landed.id, place)) AS id,
    c.position AS position,
    c.title AS title,
    c.brand AS product_brand,
    c.price_amount AS price_amount,
    c.price_currency AS price_currency,
    c.image_url AS image_url,
    c.merchant_url AS merchant_url,
    c.merchant_domain AS merchant_domain,
    c.rating AS rating,
    c.review_count AS review_count,
    c.matched_id AS matched_id,
    c.role AS role,
    sign
FROM answers_local AS landed
ARRAY JOIN
    cards AS c,
    arrayEnumerate(cards.position) AS place;

-- 0007_visits.up.sql
CREATE TABLE IF NOT EXISTS visits_local
(
    organization_id UUID COMMENT 'organization that the brand belongs to',
    brand_id        UUID COMMENT 'brand whose site was visited',
    day             Date COMMENT 'UTC day of at',
    id              UUID COMMENT 'made when the beacon was accepted, its first 48 bits are that time in Unix milliseconds',
    log_topic       LowCardinality(String) COMMENT 'topic of the record, with its prefix',
    log_partition   Int32 COMMENT 'partition of the record',
    log_offset      Int64 COMMENT 'offset of the record in its partition' CODEC(Delta, ZSTD(1)),

    at              DateTime64(3, 'UTC') COMMENT 'when the visit was, UTC' CODEC(Delta, ZSTD(1)),
    event           LowCardinality(String) COMMENT 'view or goal',
    platform        LowCardinality(String) COMMENT 'slug of the AI platform that sent the visitor',
    platform_by     LowCardinality(String) COMMENT 'source of the platform: referrer, utm, parameter, referrer_utm or session, empty: not said',
    host            LowCardinality(String) COMMENT 'host of the page',
    path            String COMMENT 'path of the page, without query' CODEC(ZSTD(1)),
    referrer_host   LowCardinality(String) COMMENT 'host of the page before, empty: unknown',
    country         LowCardinality(String) COMMENT 'ISO 3166-1 alpha-2, empty: unknown',
    country_by      LowCardinality(String) COMMENT 'source of the country: database, header or time_zone, empty: unknown',
    language        LowCardinality(String) COMMENT 'of the browser, empty: unknown',
    screen          LowCardinality(String) COMMENT 'width and height in pixels as 1920x1080, empty: unknown',
    time_zone       LowCardinality(String) COMMENT 'IANA name, empty: unknown',
    session         String COMMENT 'random name of the tab''s session, empty: unknown' CODEC(ZSTD(1)),
    new_session     Bool COMMENT 'first view of its session',
    visitor         UInt64 COMMENT 'salted hash that tells visitors of one day apart, 0: unknown',
    goal_name       LowCardinality(String) COMMENT 'name of the goal, empty: a view',
    goal_value      Nullable(Decimal(18, 6)) COMMENT 'worth of the goal in goal_currency, NULL: none',
    goal_currency   LowCardinality(String) COMMENT 'ISO 4217, empty: none',
    simulated       Bool COMMENT 'made by the simulator, nobody visited',

    INDEX log_offset log_offset TYPE minmax GRANULARITY 1
)
ENGINE = ReplicatedMergeTree('/clickhouse/answerscope/{database}/{shard}/visits', '{replica}')
PARTITION BY toYYYYMM(day)
ORDER BY (organization_id, brand_id, day, toUInt64(bitShiftRight(toUInt128(id), 80)))
SETTINGS replicated_deduplication_window = 50000, replicated_deduplication_window_seconds = 604800, fsync_after_insert = 1, fsync_part_directory = 1, remove_empty_parts = 0, ttl_only_drop_parts = 1, materialize_ttl_recalculate_only = 1
COMMENT 'Visits that AI platforms sent, one row each, as recorded. For figures visit_daily is faster.';

CREATE TABLE IF NOT EXISTS visits AS visits_local
ENGINE = Distributed('answerscope', currentDatabase(), 'visits_local')
COMMENT 'Visits that AI platforms sent, one row each, as recorded. For figures visit_daily is faster.';

-- 0008_visit_daily.up.sql
CREATE TABLE IF NOT EXISTS visit_daily_local
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
ENGINE = ReplicatedSummingMergeTree('/clickhouse/answerscope/{database}/{shard}/visit_daily', '{replica}', (visits, sessions, value))
PARTITION BY toYYYYMM(day)
ORDER BY (organization_id, brand_id, day, platform, host, path, country, event, goal, currency)
SETTINGS replicated_deduplication_window = 50000, replicated_deduplication_window_seconds = 604800, fsync_after_insert = 1, fsync_part_directory = 1, index_granularity = 1024, remove_empty_parts = 0
COMMENT 'Visits that AI platforms sent by day, platform, page, country and goal. Rows of one key may be several until they merge: sum them.';

CREATE TABLE IF NOT EXISTS visit_daily AS visit_daily_local
ENGINE = Distributed('answerscope', currentDatabase(), 'visit_daily_local')
COMMENT 'Visits that AI platforms sent by day, platform, page, country and goal. Rows of one key may be several until they merge: sum them.';

CREATE MATERIALIZED VIEW IF NOT EXISTS visit_daily_view TO visit_daily_local AS
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
FROM visits_local AS landed
GROUP BY organization_id, brand_id, day, platform, host, path, country, event, goal, currency;

-- 0009_crawls.up.sql
CREATE TABLE IF NOT EXISTS crawls_local
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
ENGINE = ReplicatedMergeTree('/clickhouse/answerscope/{database}/{shard}/crawls', '{replica}')
PARTITION BY toYYYYMM(day)
ORDER BY (organization_id, brand_id, day, toUInt64(bitShiftRight(toUInt128(id), 80)))
SETTINGS replicated_deduplication_window = 50000, replicated_deduplication_window_seconds = 604800, fsync_after_insert = 1, fsync_part_directory = 1, remove_empty_parts = 0, ttl_only_drop_parts = 1, materialize_ttl_recalculate_only = 1
COMMENT 'Requests of AI crawlers, one row each, from access logs. For figures crawl_daily is faster.';

CREATE TABLE IF NOT EXISTS crawls AS crawls_local
ENGINE = Distributed('answerscope', currentDatabase(), 'crawls_local')
COMMENT 'Requests of AI crawlers, one row each, from access logs. For figures crawl_daily is faster.';

-- 0010_crawl_daily.up.sql
CREATE TABLE IF NOT EXISTS crawl_daily_local
(
    organization_id UUID COMMENT 'organization that the brand belongs to',
    brand_id        UUID COMMENT 'brand whose site was crawled',
    day             Date COMMENT 'UTC day',
    crawler         LowCardinality(String) COMMENT 'name of the AI crawler, such as GPTBot',
    operator        LowCardinality(String) COMMENT 'who runs it, empty: not said',
    platform        LowCardinality(String) COMMENT 'slug of the AI platform that it crawls for, empty: none of ours',
    purpose         LowCardinality(String) COMMENT 'training, search (an index for answers to come) or user (somebody asked for the page just then)',
    host            LowCardinality(String) COMMENT 'host of the page',
    path            String COMMENT 'path of the page, without query' CODEC(ZSTD(1)),
    status          UInt16 COMMENT 'status of the response, 0: none was sent',
    requests        Int64 COMMENT 'requests',
    verified        Int64 COMMENT 'requests from addresses that the operator publishes',
    unverified      Int64 COMMENT 'requests from other addresses, so probably somebody else''s. Of the rest nobody looked',
    bytes           Int64 COMMENT 'size of the responses'' bodies'
)
ENGINE = ReplicatedSummingMergeTree('/clickhouse/answerscope/{database}/{shard}/crawl_daily', '{replica}', (requests, verified, unverified, bytes))
PARTITION BY toYYYYMM(day)
ORDER BY (organization_id, brand_id, day, crawler, operator, platform, purpose, host, path, status)
SETTINGS replicated_deduplication_window = 50000, replicated_deduplication_window_seconds = 604800, fsync_after_insert = 1, fsync_part_directory = 1, index_granularity = 1024, remove_empty_parts = 0, min_bytes_for_wide_part = 1073741824
COMMENT 'Requests of AI crawlers by day, crawler, purpose, page and status. Rows of one key may be several until they merge: sum them.';

CREATE TABLE IF NOT EXISTS crawl_daily AS crawl_daily_local
ENGINE = Distributed('answerscope', currentDatabase(), 'crawl_daily_local')
COMMENT 'Requests of AI crawlers by day, crawler, purpose, page and status. Rows of one key may be several until they merge: sum them.';

CREATE MATERIALIZED VIEW IF NOT EXISTS crawl_daily_view TO crawl_daily_local AS
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
FROM crawls_local AS landed
GROUP BY organization_id, brand_id, day, crawler, operator, platform, purpose, host, path, status;

-- 0011_log_progress.up.sql
CREATE TABLE IF NOT EXISTS log_progress_local
(
    log_topic     LowCardinality(String),
    log_partition Int32,
    last_offset   SimpleAggregateFunction(max, Int64)
)
ENGINE = ReplicatedAggregatingMergeTree('/clickhouse/answerscope/{database}/{shard}/log_progress', '{replica}')
ORDER BY (log_topic, log_partition)
SETTINGS replicated_deduplication_window = 50000, replicated_deduplication_window_seconds = 604800, fsync_after_insert = 1, fsync_part_directory = 1, remove_empty_parts = 0;

CREATE TABLE IF NOT EXISTS log_progress AS log_progress_local
ENGINE = Distributed('answerscope', currentDatabase(), 'log_progress_local');

CREATE MATERIALIZED VIEW IF NOT EXISTS log_progress_answers_view TO log_progress_local AS
SELECT
    log_topic,
    log_partition,
    max(log_offset) AS last_offset
FROM answers_local
GROUP BY log_topic, log_partition;

CREATE MATERIALIZED VIEW IF NOT EXISTS log_progress_visits_view TO log_progress_local AS
SELECT
    log_topic,
    log_partition,
    max(log_offset) AS last_offset
FROM visits_local
GROUP BY log_topic, log_partition;

CREATE MATERIALIZED VIEW IF NOT EXISTS log_progress_crawls_view TO log_progress_local AS
SELECT
    log_topic,
    log_partition,
    max(log_offset) AS last_offset
FROM crawls_local
GROUP BY log_topic, log_partition;

-- 0012_deadletters.up.sql
CREATE TABLE IF NOT EXISTS deadletters_local
(
    log_topic       LowCardinality(String) COMMENT 'topic of the record, with its prefix',
    log_partition   Int32 COMMENT 'partition of the record',
    log_offset      Int64 COMMENT 'offset of the record in its partition',
    appended_at     DateTime64(3, 'UTC') COMMENT 'the record''s time on the log',
    key             String COMMENT 'of the record, as it came, empty: none',
    value           String COMMENT 'of the record, as it came' CODEC(ZSTD(1)),
    reason          LowCardinality(String) COMMENT 'why it is not in the landing table: malformed or month frozen',
    detail          String COMMENT 'the reason in full',
    `headers.key`   Array(String) COMMENT 'keys of its headers, as they came',
    `headers.value` Array(String) COMMENT 'values of its headers, as they came'
)
ENGINE = ReplicatedMergeTree('/clickhouse/answerscope/{database}/{shard}/deadletters', '{replica}')
PARTITION BY toYYYYMM(appended_at)
ORDER BY (log_topic, log_partition, log_offset)
SETTINGS replicated_deduplication_window = 50000, replicated_deduplication_window_seconds = 604800, fsync_after_insert = 1, fsync_part_directory = 1, remove_empty_parts = 0, ttl_only_drop_parts = 1, materialize_ttl_recalculate_only = 1
COMMENT 'Records that were read from the log and are in no landing table, byte for byte.';

CREATE TABLE IF NOT EXISTS deadletters AS deadletters_local
ENGINE = Distributed('answerscope', currentDatabase(), 'deadletters_local')
COMMENT 'Records that were read from the log and are in no landing table, byte for byte.';

CREATE TABLE IF NOT EXISTS deadletter_marks_local
(
    log_topic       LowCardinality(String) COMMENT 'topic of the record, with its prefix',
    log_partition   Int32 COMMENT 'partition of the record',
    log_offset      Int64 COMMENT 'offset of the record in its partition',
    mark            LowCardinality(String) COMMENT 'expired: the first of a batch whose plan had expired when it was inserted, reconciled: the figures of the month were found right since, replayed: it was appended again',
    landing         LowCardinality(String) COMMENT 'landing table that its row is for, of expired and reconciled',
    month           UInt32 COMMENT 'month of its row as 202603, of expired and reconciled',
    at              DateTime64(3, 'UTC') DEFAULT now64(3, 'UTC') COMMENT 'when it was marked'
)
ENGINE = ReplicatedMergeTree('/clickhouse/answerscope/{database}/{shard}/deadletter_marks', '{replica}')
ORDER BY (log_topic, log_partition, log_offset, mark)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1
COMMENT 'What became of records that are dead letters, or are about to be, and of batches whose plan had expired.';

CREATE TABLE IF NOT EXISTS deadletter_marks AS deadletter_marks_local
ENGINE = Distributed('answerscope', currentDatabase(), 'deadletter_marks_local')
COMMENT 'What became of records that are dead letters, or are about to be, and of batches whose plan had expired.';

-- 0013_dimensions.up.sql
CREATE TABLE IF NOT EXISTS dimension_brands
(
    organization_id UUID COMMENT 'organization that the brand belongs to',
    id              UUID COMMENT 'brand_id of the other tables',
    name            String COMMENT 'how the brand is called',
    slug            String COMMENT 'short name in addresses',
    aliases         Array(String) COMMENT 'other names that mention it',
    domains         Array(String) COMMENT 'hosts whose pages are its own, with all hosts under them',
    industry        String COMMENT 'as typed in, empty: not said',
    region          String COMMENT 'where it is at home, empty: not said',
    language        String COMMENT 'empty: not said',
    revision        Int64 COMMENT 'rises with every edit of names, aliases, domains and competitors',
    is_active       Bool COMMENT 'its prompts are asked',
    version         UInt64 COMMENT 'the row of an id with the largest one is how it is now',
    deleted         Bool COMMENT 'it is no more'
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/answerscope/{database}/{shard}/dimension_brands', '{replica}', version)
ORDER BY (organization_id, id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1
COMMENT 'Brands as they are now. Of each id the newest version counts: read it with FINAL, and leave out what is deleted.';

CREATE TABLE IF NOT EXISTS dimension_competitors
(
    organization_id UUID COMMENT 'organization that the brand belongs to',
    brand_id        UUID COMMENT 'brand whose competitor it is',
    id              UUID COMMENT 'competitor_id of the other tables',
    name            String COMMENT 'how it is called',
    aliases         Array(String) COMMENT 'other names that mention it',
    domains         Array(String) COMMENT 'hosts whose pages are its own, with all hosts under them',
    version         UInt64 COMMENT 'the row of an id with the largest one is how it is now',
    deleted         Bool COMMENT 'it is no more'
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/answerscope/{database}/{shard}/dimension_competitors', '{replica}', version)
ORDER BY (organization_id, brand_id, id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1
COMMENT 'Competitors of a brand as they are now. Of each id the newest version counts: read it with FINAL, and leave out what is deleted.';

CREATE TABLE IF NOT EXISTS dimension_prompts
(
    organization_id UUID COMMENT 'organization that the brand belongs to',
    brand_id        UUID COMMENT 'brand that it is asked for',
    id              UUID COMMENT 'prompt_id of the other tables',
    topic_id        UUID COMMENT 'topic that it is in now, nil: none',
    text            String COMMENT 'what is asked',
    is_branded      Nullable(Bool) COMMENT 'it names the brand, NULL: decided by its text',
    is_active       Bool COMMENT 'it is asked',
    version         UInt64 COMMENT 'the row of an id with the largest one is how it is now',
    deleted         Bool COMMENT 'it is no more'
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/answerscope/{database}/{shard}/dimension_prompts', '{replica}', version)
ORDER BY (organization_id, brand_id, id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1
COMMENT 'Prompts of a brand as they are now. A deleted one keeps its last text. Of each id the newest version counts: read it with FINAL, and leave out what is deleted.';

CREATE TABLE IF NOT EXISTS dimension_topics
(
    organization_id UUID COMMENT 'organization that the brand belongs to',
    brand_id        UUID COMMENT 'brand whose topic it is',
    id              UUID COMMENT 'topic_id of the other tables',
    name            String COMMENT 'how it is called',
    is_active       Bool COMMENT 'its prompts are asked',
    version         UInt64 COMMENT 'the row of an id with the largest one is how it is now',
    deleted         Bool COMMENT 'it is no more'
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/answerscope/{database}/{shard}/dimension_topics', '{replica}', version)
ORDER BY (organization_id, brand_id, id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1
COMMENT 'Topics of prompts as they are now. Of each id the newest version counts: read it with FINAL, and leave out what is deleted.';

