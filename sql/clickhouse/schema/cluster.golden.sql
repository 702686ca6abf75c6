-- 0001_answers.up.sql
CREATE TABLE IF NOT EXISTS answers_local
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
ENGINE = ReplicatedMergeTree('/clickhouse/answerscope/{database}/{shard}/answers', '{replica}')
PARTITION BY toYYYYMM(day)
ORDER BY (organization_id, brand_id, day, id)
SETTINGS replicated_max_ratio_of_wrong_parts = 1, replicated_deduplication_window = 50000, replicated_deduplication_window_seconds = 604800, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 480, remove_empty_parts = 0, ttl_only_drop_parts = 1, materialize_ttl_recalculate_only = 1, lightweight_mutation_projection_mode = 'rebuild', index_granularity_bytes = 2097152
COMMENT 'Every record of every run with its reading. A correction is two more rows, of sign -1 and 1. The rollups are faster.';

CREATE TABLE IF NOT EXISTS answers AS answers_local
ENGINE = Distributed('answerscope', currentDatabase(), 'answers_local')
COMMENT 'Every record of every run with its reading. A correction is two more rows, of sign -1 and 1. The rollups are faster.';

-- 0002_answer_daily.up.sql
CREATE TABLE IF NOT EXISTS answer_daily_local
(
    organization_id  UUID COMMENT 'organization of the brand',
    brand_id         UUID COMMENT 'id of the brand',
    day              Date COMMENT 'UTC day',
    platform         LowCardinality(String) COMMENT 'slug of the AI platform, of a crawl the one it crawls for, empty: none',
    model            LowCardinality(String) COMMENT 'requested model, empty: none',
    region           LowCardinality(String) COMMENT 'requested region, empty: none',
    topic_id         UUID COMMENT 'topic of the prompt when it was asked, nil: none',
    branded          Bool COMMENT 'the prompt names the brand',
    served_model     LowCardinality(String) COMMENT 'model that answered, empty: unknown',
    provider         LowCardinality(String) COMMENT 'who captured the surface, empty: the platform was asked itself',
    runs             Int64 COMMENT 'answers, surfaces without one and given-up runs',
    given_up         Int64 COMMENT 'runs that ended without an answer',
    not_shown        Int64 COMMENT 'runs whose surface was seen, and had no answer',
    answers          Int64 COMMENT 'answers: the divisor of rates and averages',
    mention_answers  Int64 COMMENT 'answers that mention the entity',
    citation_answers Int64 COMMENT 'answers that cite its pages',
    inverse_position Int64 COMMENT 'sum of 1/position over mention_answers, in 1/5354228880ths',
    mentions         Int64 COMMENT 'occurrences of its names',
    citations        Int64 COMMENT 'citations of its pages',
    visibility       Int64 COMMENT 'sum of visibility_score over all answers',
    visibility_named Int64 COMMENT 'sum of visibility_score over mention_answers'
)
ENGINE = ReplicatedSummingMergeTree('/clickhouse/answerscope/{database}/{shard}/answer_daily', '{replica}')
PARTITION BY toYYYYMM(day)
ORDER BY (organization_id, brand_id, day, platform, model, region, topic_id, branded, served_model, provider)
SETTINGS replicated_max_ratio_of_wrong_parts = 1, replicated_deduplication_window = 50000, replicated_deduplication_window_seconds = 604800, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 480, remove_empty_parts = 0, min_bytes_for_wide_part = 1073741824
COMMENT 'Sums of the answers of a brand by day and every filter, without shopping platforms. Always sum: a key may have several rows.';

CREATE TABLE IF NOT EXISTS answer_daily AS answer_daily_local
ENGINE = Distributed('answerscope', currentDatabase(), 'answer_daily_local')
COMMENT 'Sums of the answers of a brand by day and every filter, without shopping platforms. Always sum: a key may have several rows.';

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
    provider,
    sum(sign)                                                                AS runs,
    sum(sign * landed.given_up)                                                AS given_up,
    sum(sign * (finish = 'not_shown'))                                       AS not_shown,
    sum(sign * answered)                                                     AS answers,
    sum(sign * (mention_count > 0))                                          AS mention_answers,
    sum(sign * (citation_count > 0))                                         AS citation_answers,
    sum(sign * if(position = 0, 0, toInt64(round(5354228880 / position))))   AS inverse_position,
    sum(sign * mention_count)                                                AS mentions,
    sum(sign * citation_count)                                               AS citations,
    sum(sign * visibility_score)                                             AS visibility,
    sum(sign * if(mention_count > 0, visibility_score, 0))                   AS visibility_named
FROM answers_local AS landed
WHERE NOT endsWith(platform, '-shopping')
GROUP BY organization_id, brand_id, day, platform, model, region, topic_id, branded, served_model, provider;

-- 0003_entity_prompt_daily.up.sql
CREATE TABLE IF NOT EXISTS entity_prompt_daily_local
(
    organization_id  UUID COMMENT 'organization of the brand',
    brand_id         UUID COMMENT 'id of the brand',
    day              Date COMMENT 'UTC day',
    platform         LowCardinality(String) COMMENT 'slug of the AI platform, of a crawl the one it crawls for, empty: none',
    model            LowCardinality(String) COMMENT 'requested model, empty: none',
    region           LowCardinality(String) COMMENT 'requested region, empty: none',
    topic_id         UUID COMMENT 'topic of the prompt when it was asked, nil: none',
    branded          Bool COMMENT 'the prompt names the brand',
    prompt_id        UUID COMMENT 'prompt that was asked',
    entity_id        UUID COMMENT 'the brand (its brand_id), or a competitor, also a deleted one',
    runs             Int64 COMMENT 'answers, surfaces without one and given-up runs. 0 on rows of competitors',
    given_up         Int64 COMMENT 'runs that ended without an answer. 0 on rows of competitors',
    not_shown        Int64 COMMENT 'runs whose surface was seen, and had no answer. 0 on rows of competitors',
    answers          Int64 COMMENT 'answers: the divisor of rates and averages. 0 on rows of competitors',
    mention_answers  Int64 COMMENT 'answers that mention the entity',
    citation_answers Int64 COMMENT 'answers that cite its pages',
    visible_answers  Int64 COMMENT 'answers that mention it or cite its pages',
    inverse_position Int64 COMMENT 'sum of 1/position over mention_answers, in 1/5354228880ths',
    positions        Int64 COMMENT 'sum of position over mention_answers',
    mentions         Int64 COMMENT 'occurrences of its names',
    citations        Int64 COMMENT 'citations of its pages',
    visibility       Int64 COMMENT 'sum of visibility_score over all answers',
    visibility_named Int64 COMMENT 'sum of visibility_score over mention_answers',
    positive_answers Int64 COMMENT 'mention_answers that speak well of it',
    neutral_answers  Int64 COMMENT 'mention_answers that judge it neither way',
    negative_answers Int64 COMMENT 'mention_answers that speak ill of it'
)
ENGINE = ReplicatedSummingMergeTree('/clickhouse/answerscope/{database}/{shard}/entity_prompt_daily', '{replica}')
PARTITION BY toYYYYMM(day)
ORDER BY (organization_id, brand_id, day, platform, model, region, topic_id, branded, prompt_id, entity_id)
SETTINGS replicated_max_ratio_of_wrong_parts = 1, replicated_deduplication_window = 50000, replicated_deduplication_window_seconds = 604800, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 480, index_granularity = 1024, remove_empty_parts = 0, min_bytes_for_wide_part = 1073741824
COMMENT 'The sums of answer_daily by prompt, of brand and competitors. Always sum: a key may have several rows.';

CREATE TABLE IF NOT EXISTS entity_prompt_daily AS entity_prompt_daily_local
ENGINE = Distributed('answerscope', currentDatabase(), 'entity_prompt_daily_local')
COMMENT 'The sums of answer_daily by prompt, of brand and competitors. Always sum: a key may have several rows.';

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
    sum(sign * (own AND finish = 'not_shown'))                                              AS not_shown,
    sum(sign * (own AND answered))                                                          AS answers,
    sum(sign * (named > 0))                                                                 AS mention_answers,
    sum(sign * (cited > 0))                                                                 AS citation_answers,
    sum(sign * (named > 0 OR cited > 0))                                                    AS visible_answers,
    sum(sign * if(place = 0, 0, toInt64(round(5354228880 / place))))                        AS inverse_position,
    sum(sign * place)                                                                       AS positions,
    sum(sign * named)                                                                       AS mentions,
    sum(sign * cited)                                                                       AS citations,
    sum(sign * score)                                                                       AS visibility,
    sum(sign * if(named > 0, score, 0))                                                     AS visibility_named,
    sum(sign * (named > 0 AND label = 'positive'))                                          AS positive_answers,
    sum(sign * (named > 0 AND label = 'neutral'))                                           AS neutral_answers,
    sum(sign * (named > 0 AND label = 'negative'))                                          AS negative_answers
FROM answers_local AS landed
ARRAY JOIN
    arrayPushFront(landed.competitors.id, brand_id)                                           AS entity_id,
    arrayPushFront(landed.competitors.mention_count, landed.mention_count)                      AS named,
    arrayPushFront(landed.competitors.position, landed.position)                                AS place,
    arrayPushFront(landed.competitors.citation_count, landed.citation_count)                    AS cited,
    arrayPushFront(landed.competitors.visibility_score, toUInt16(landed.visibility_score))      AS score,
    arrayPushFront(landed.competitors.sentiment, landed.sentiment)                              AS label,
    arrayMap(n -> n = 1, arrayEnumerate(arrayPushFront(landed.competitors.id, brand_id)))     AS own
WHERE NOT endsWith(platform, '-shopping')
  AND (own OR named > 0 OR cited > 0)
GROUP BY organization_id, brand_id, day, platform, model, region, topic_id, branded, prompt_id, entity_id;

-- 0004_citations.up.sql
CREATE TABLE IF NOT EXISTS citations_local
(
    organization_id UUID COMMENT 'organization of the brand',
    brand_id        UUID COMMENT 'id of the brand',
    day             Date COMMENT 'UTC day',
    platform        LowCardinality(String) COMMENT 'slug of the AI platform, of a crawl the one it crawls for, empty: none',
    model           LowCardinality(String) COMMENT 'requested model, empty: none',
    region          LowCardinality(String) COMMENT 'requested region, empty: none',
    topic_id        UUID COMMENT 'topic of the prompt when it was asked, nil: none',
    branded         Bool COMMENT 'the prompt names the brand',
    prompt_id       UUID COMMENT 'prompt that was asked',
    answer_id       UUID COMMENT 'id of the answer',
    url             String COMMENT 'cited URL, normalised' CODEC(ZSTD(1)),
    domain          LowCardinality(String) COMMENT 'registrable domain of the host',
    title           String COMMENT 'title in the answer, empty: none' CODEC(ZSTD(1)),
    listed_type     LowCardinality(String) COMMENT 'forum, social, review, institutional or editorial, regardless of its owner',
    owned           Bool COMMENT 'on a domain of the brand',
    competitor_id   UUID COMMENT 'competitor whose domain it is, nil: none',
    sign            Int8 COMMENT '1: the row counts, -1: it takes an earlier one back. Figures are sums of sign x value'
)
ENGINE = ReplicatedMergeTree('/clickhouse/answerscope/{database}/{shard}/citations', '{replica}')
PARTITION BY toYYYYMM(day)
ORDER BY (organization_id, brand_id, day, domain, url, answer_id)
SETTINGS replicated_max_ratio_of_wrong_parts = 1, replicated_deduplication_window = 50000, replicated_deduplication_window_seconds = 604800, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 480, remove_empty_parts = 0
COMMENT 'One row per answer and URL that it cites, and per correction: those whose signs sum to 1 count. citation_daily is faster.';

CREATE TABLE IF NOT EXISTS citations AS citations_local
ENGINE = Distributed('answerscope', currentDatabase(), 'citations_local')
COMMENT 'One row per answer and URL that it cites, and per correction: those whose signs sum to 1 count. citation_daily is faster.';

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
    organization_id       UUID COMMENT 'organization of the brand',
    brand_id              UUID COMMENT 'id of the brand',
    day                   Date COMMENT 'UTC day',
    domain                LowCardinality(String) COMMENT 'registrable domain of the host',
    url                   String COMMENT 'cited URL, normalised, empty: the row counts answers',
    title                 String COMMENT 'title in the answer, empty: none',
    source_type           LowCardinality(String) COMMENT 'owned, competitor, forum, social, review, institutional or editorial: the first that applies',
    competitor_id         UUID COMMENT 'competitor whose domain it is, nil: none',
    platform              LowCardinality(String) COMMENT 'slug of the AI platform, of a crawl the one it crawls for, empty: none',
    model                 LowCardinality(String) COMMENT 'requested model, empty: none',
    region                LowCardinality(String) COMMENT 'requested region, empty: none',
    topic_id              UUID COMMENT 'topic of the prompt when it was asked, nil: none',
    branded               Bool COMMENT 'the prompt names the brand',
    mentioned             Bool COMMENT 'the answer mentions the brand',
    entry                 UInt128 COMMENT 'hash of domain, url, title, source_type and model',
    answers               Int64 COMMENT 'answers, on rows without a url',
    citations             Int64 COMMENT 'answers that cite the url',
    citing_answers        Int64 COMMENT 'citations that are the first in their answer',
    citing_answers_source Int64 COMMENT 'the first in their answer of their source: owned, competitor or external',
    domain_answers        Int64 COMMENT 'the first in their answer to the domain',
    domain_answers_source Int64 COMMENT 'the first in their answer to the domain and of the source'
)
ENGINE = ReplicatedSummingMergeTree('/clickhouse/answerscope/{database}/{shard}/citation_daily', '{replica}', (answers, citations, citing_answers, citing_answers_source, domain_answers, domain_answers_source))
PARTITION BY toYYYYMM(day)
ORDER BY (organization_id, brand_id, day, domain, url, title, source_type, competitor_id, platform, model, region, topic_id, branded, mentioned)
SETTINGS replicated_max_ratio_of_wrong_parts = 1, replicated_deduplication_window = 50000, replicated_deduplication_window_seconds = 604800, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 480, remove_empty_parts = 0
COMMENT 'What answers cite by day, page and every filter, and the number of answers. Always sum: a key may have several rows.';

CREATE TABLE IF NOT EXISTS citation_daily AS citation_daily_local
ENGINE = Distributed('answerscope', currentDatabase(), 'citation_daily_local')
COMMENT 'What answers cite by day, page and every filter, and the number of answers. Always sum: a key may have several rows.';

CREATE MATERIALIZED VIEW IF NOT EXISTS citation_daily_view TO citation_daily_local AS
WITH arrayMap(
        (owned, competitor, listed) -> multiIf(owned, 'owned', competitor != toUUID('00000000-0000-0000-0000-000000000000'), 'competitor', listed),
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
    CAST(mention_count > 0 AS Bool) AS mentioned,
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
  AND answered
  AND cited;

-- 0006_shopping_cards.up.sql
CREATE TABLE IF NOT EXISTS shopping_cards_local
(
    organization_id UUID COMMENT 'organization of the brand',
    brand_id        UUID COMMENT 'id of the brand',
    day             Date COMMENT 'UTC day',
    platform        LowCardinality(String) COMMENT 'slug of the AI platform, of a crawl the one it crawls for, empty: none',
    model           LowCardinality(String) COMMENT 'requested model, empty: none',
    region          LowCardinality(String) COMMENT 'requested region, empty: none',
    topic_id        UUID COMMENT 'topic of the prompt when it was asked, nil: none',
    branded         Bool COMMENT 'the prompt names the brand',
    answered_at     DateTime64(3, 'UTC') COMMENT 'UTC time of the answer',
    answer_id       UUID COMMENT 'id of the answer',
    id              UUID COMMENT 'id of the card, made of answer and position',
    position        UInt32 COMMENT '1-based position of the card in the answer',
    title           String COMMENT 'title of the product' CODEC(ZSTD(1)),
    product_brand   String COMMENT 'brand of the product, empty: unknown' CODEC(ZSTD(1)),
    price_amount    Nullable(Decimal(18, 4)) COMMENT 'price in price_currency, NULL: unknown',
    price_currency  LowCardinality(String) COMMENT 'ISO 4217, empty: unknown',
    image_url       String COMMENT 'picture of the product, empty: unknown' CODEC(ZSTD(1)),
    merchant        String COMMENT 'name of the shop, empty: unknown' CODEC(ZSTD(1)),
    merchant_url    String COMMENT 'where it is sold, empty: unknown' CODEC(ZSTD(1)),
    merchant_domain String COMMENT 'registrable domain of merchant_url' CODEC(ZSTD(1)),
    rating          Nullable(Float64) COMMENT 'as returned, NULL: unknown',
    review_count    Nullable(Int64) COMMENT 'as returned, NULL: unknown',
    matched_id      UUID COMMENT 'brand or competitor whose product it is, nil: neither',
    role            LowCardinality(String) COMMENT 'own, competitor or other',
    sign            Int8 COMMENT '1: the row counts, -1: it takes an earlier one back. Figures are sums of sign x value'
)
ENGINE = ReplicatedMergeTree('/clickhouse/answerscope/{database}/{shard}/shopping_cards', '{replica}')
PARTITION BY toYYYYMM(day)
ORDER BY (organization_id, brand_id, day, answered_at, id)
SETTINGS replicated_max_ratio_of_wrong_parts = 1, replicated_deduplication_window = 50000, replicated_deduplication_window_seconds = 604800, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 480, remove_empty_parts = 0
COMMENT 'One row per shopping card, and per correction: those whose signs sum to 1 count.';

CREATE TABLE IF NOT EXISTS shopping_cards AS shopping_cards_local
ENGINE = Distributed('answerscope', currentDatabase(), 'shopping_cards_local')
COMMENT 'One row per shopping card, and per correction: those whose signs sum to 1 count.';

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
    c.merchant AS merchant,
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
ENGINE = ReplicatedMergeTree('/clickhouse/answerscope/{database}/{shard}/visits', '{replica}')
PARTITION BY toYYYYMM(day)
ORDER BY (organization_id, brand_id, day, toUInt64(bitShiftRight(toUInt128(id), 80)))
SETTINGS replicated_max_ratio_of_wrong_parts = 1, replicated_deduplication_window = 50000, replicated_deduplication_window_seconds = 604800, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 480, remove_empty_parts = 0, ttl_only_drop_parts = 1, materialize_ttl_recalculate_only = 1
COMMENT 'One row per visit that an AI platform sent, and per goal. visit_daily is faster.';

CREATE TABLE IF NOT EXISTS visits AS visits_local
ENGINE = Distributed('answerscope', currentDatabase(), 'visits_local')
COMMENT 'One row per visit that an AI platform sent, and per goal. visit_daily is faster.';

-- 0008_visit_daily.up.sql
CREATE TABLE IF NOT EXISTS visit_daily_local
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
ENGINE = ReplicatedSummingMergeTree('/clickhouse/answerscope/{database}/{shard}/visit_daily', '{replica}', (visits, sessions, value))
PARTITION BY toYYYYMM(day)
ORDER BY (organization_id, brand_id, day, platform, host, path, country, event, goal, currency)
SETTINGS replicated_max_ratio_of_wrong_parts = 1, replicated_deduplication_window = 50000, replicated_deduplication_window_seconds = 604800, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 480, index_granularity = 1024, remove_empty_parts = 0
COMMENT 'Visits and goals by day, platform, page and country. Always sum: a key may have several rows.';

CREATE TABLE IF NOT EXISTS visit_daily AS visit_daily_local
ENGINE = Distributed('answerscope', currentDatabase(), 'visit_daily_local')
COMMENT 'Visits and goals by day, platform, page and country. Always sum: a key may have several rows.';

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
ENGINE = ReplicatedMergeTree('/clickhouse/answerscope/{database}/{shard}/crawls', '{replica}')
PARTITION BY toYYYYMM(day)
ORDER BY (organization_id, brand_id, day, toUInt64(bitShiftRight(toUInt128(id), 80)))
SETTINGS replicated_max_ratio_of_wrong_parts = 1, replicated_deduplication_window = 50000, replicated_deduplication_window_seconds = 604800, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 480, remove_empty_parts = 0, ttl_only_drop_parts = 1, materialize_ttl_recalculate_only = 1
COMMENT 'One row per request of an AI crawler, from access logs. crawl_daily is faster.';

CREATE TABLE IF NOT EXISTS crawls AS crawls_local
ENGINE = Distributed('answerscope', currentDatabase(), 'crawls_local')
COMMENT 'One row per request of an AI crawler, from access logs. crawl_daily is faster.';

-- 0010_crawl_daily.up.sql
CREATE TABLE IF NOT EXISTS crawl_daily_local
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
ENGINE = ReplicatedSummingMergeTree('/clickhouse/answerscope/{database}/{shard}/crawl_daily', '{replica}', (requests, verified, unverified, bytes))
PARTITION BY toYYYYMM(day)
ORDER BY (organization_id, brand_id, day, crawler, operator, platform, purpose, host, path, status)
SETTINGS replicated_max_ratio_of_wrong_parts = 1, replicated_deduplication_window = 50000, replicated_deduplication_window_seconds = 604800, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 480, index_granularity = 1024, remove_empty_parts = 0, min_bytes_for_wide_part = 1073741824
COMMENT 'Requests of AI crawlers by day, crawler, purpose, page and status. Always sum: a key may have several rows.';

CREATE TABLE IF NOT EXISTS crawl_daily AS crawl_daily_local
ENGINE = Distributed('answerscope', currentDatabase(), 'crawl_daily_local')
COMMENT 'Requests of AI crawlers by day, crawler, purpose, page and status. Always sum: a key may have several rows.';

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
SETTINGS replicated_max_ratio_of_wrong_parts = 1, replicated_deduplication_window = 50000, replicated_deduplication_window_seconds = 604800, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 480, remove_empty_parts = 0;

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
    log_topic       LowCardinality(String) COMMENT 'position of the record on the log',
    log_partition   Int32 COMMENT 'position of the record on the log',
    log_offset      Int64 COMMENT 'position of the record on the log',
    appended_at     DateTime64(3, 'UTC') COMMENT 'time of the record on the log',
    key             String COMMENT 'key of the record, empty: none',
    value           String COMMENT 'value of the record' CODEC(ZSTD(1)),
    reason          LowCardinality(String) COMMENT 'why it is not counted: malformed or month frozen',
    detail          String COMMENT 'the reason in full',
    `headers.key`   Array(String) COMMENT 'keys of its headers',
    `headers.value` Array(String) COMMENT 'values of its headers'
)
ENGINE = ReplicatedMergeTree('/clickhouse/answerscope/{database}/{shard}/deadletters', '{replica}')
PARTITION BY toYYYYMM(appended_at)
ORDER BY (log_topic, log_partition, log_offset)
SETTINGS replicated_max_ratio_of_wrong_parts = 1, replicated_deduplication_window = 50000, replicated_deduplication_window_seconds = 604800, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 480, remove_empty_parts = 0, ttl_only_drop_parts = 1, materialize_ttl_recalculate_only = 1
COMMENT 'Records of the log that are in no landing table, byte for byte.';

CREATE TABLE IF NOT EXISTS deadletters AS deadletters_local
ENGINE = Distributed('answerscope', currentDatabase(), 'deadletters_local')
COMMENT 'Records of the log that are in no landing table, byte for byte.';

CREATE TABLE IF NOT EXISTS deadletter_marks_local
(
    log_topic       LowCardinality(String) COMMENT 'position of the record on the log',
    log_partition   Int32 COMMENT 'position of the record on the log',
    log_offset      Int64 COMMENT 'position of the record on the log',
    mark            LowCardinality(String) COMMENT 'suspect: first of a batch that was repeated, reconciled: its month was reconciled since, replayed: it was appended again',
    landing         LowCardinality(String) COMMENT 'landing table of the row, of suspect and reconciled',
    month           UInt32 COMMENT 'month of the row as 202603, of suspect and reconciled',
    at              DateTime64(3, 'UTC') DEFAULT now64(3, 'UTC') COMMENT 'when it was marked'
)
ENGINE = ReplicatedMergeTree('/clickhouse/answerscope/{database}/{shard}/deadletter_marks', '{replica}')
ORDER BY (log_topic, log_partition, log_offset, mark)
SETTINGS replicated_max_ratio_of_wrong_parts = 1, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 480
COMMENT 'What became of dead letters, and of repeated batches.';

CREATE TABLE IF NOT EXISTS deadletter_marks AS deadletter_marks_local
ENGINE = Distributed('answerscope', currentDatabase(), 'deadletter_marks_local')
COMMENT 'What became of dead letters, and of repeated batches.';

-- 0013_dimensions.up.sql
CREATE TABLE IF NOT EXISTS dimension_brands
(
    organization_id UUID COMMENT 'organization of the brand',
    id              UUID COMMENT 'brand_id of the other tables',
    name            String COMMENT 'name',
    slug            String COMMENT 'short name',
    aliases         Array(String) COMMENT 'other names in answers',
    domains         Array(String) COMMENT 'hosts of its pages, with all hosts below them',
    industry        String COMMENT 'as edited, empty: unknown',
    region          String COMMENT 'as edited, empty: unknown',
    language        String COMMENT 'as edited, empty: unknown',
    revision        Int64 COMMENT 'rises with every edit of names, aliases, domains and competitors',
    is_active       Bool COMMENT 'false: paused',
    version         UInt64 COMMENT 'version of the row: the largest counts',
    deleted         Bool COMMENT 'the row no longer exists'
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/answerscope/{database}/{shard}/dimension_brands', '{replica}', version)
ORDER BY (organization_id, id)
SETTINGS replicated_max_ratio_of_wrong_parts = 1, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 480
COMMENT 'Brands as they are now. Read with FINAL and WHERE NOT deleted.';

CREATE TABLE IF NOT EXISTS dimension_competitors
(
    organization_id UUID COMMENT 'organization of the brand',
    brand_id        UUID COMMENT 'id of the brand',
    id              UUID COMMENT 'competitor_id of the other tables',
    name            String COMMENT 'name',
    aliases         Array(String) COMMENT 'other names in answers',
    domains         Array(String) COMMENT 'hosts of its pages, with all hosts below them',
    version         UInt64 COMMENT 'version of the row: the largest counts',
    deleted         Bool COMMENT 'the row no longer exists'
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/answerscope/{database}/{shard}/dimension_competitors', '{replica}', version)
ORDER BY (organization_id, brand_id, id)
SETTINGS replicated_max_ratio_of_wrong_parts = 1, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 480
COMMENT 'Competitors as they are now. Read with FINAL and WHERE NOT deleted.';

CREATE TABLE IF NOT EXISTS dimension_prompts
(
    organization_id UUID COMMENT 'organization of the brand',
    brand_id        UUID COMMENT 'id of the brand',
    id              UUID COMMENT 'prompt_id of the other tables',
    topic_id        UUID COMMENT 'its topic now, nil: none',
    text            String COMMENT 'text of the prompt',
    is_branded      Nullable(Bool) COMMENT 'branded as set on the prompt, NULL: not set',
    is_active       Bool COMMENT 'false: paused',
    version         UInt64 COMMENT 'version of the row: the largest counts',
    deleted         Bool COMMENT 'the row no longer exists'
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/answerscope/{database}/{shard}/dimension_prompts', '{replica}', version)
ORDER BY (organization_id, brand_id, id)
SETTINGS replicated_max_ratio_of_wrong_parts = 1, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 480
COMMENT 'Prompts as they are now. A deleted one keeps its last text. Read with FINAL and WHERE NOT deleted.';

CREATE TABLE IF NOT EXISTS dimension_topics
(
    organization_id UUID COMMENT 'organization of the brand',
    brand_id        UUID COMMENT 'id of the brand',
    id              UUID COMMENT 'topic_id of the other tables',
    name            String COMMENT 'name',
    is_active       Bool COMMENT 'false: paused',
    version         UInt64 COMMENT 'version of the row: the largest counts',
    deleted         Bool COMMENT 'the row no longer exists'
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/answerscope/{database}/{shard}/dimension_topics', '{replica}', version)
ORDER BY (organization_id, brand_id, id)
SETTINGS replicated_max_ratio_of_wrong_parts = 1, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 480
COMMENT 'Topics of prompts as they are now. Read with FINAL and WHERE NOT deleted.';

-- 0014_views.up.sql
DROP VIEW IF EXISTS exported_months;

DROP VIEW IF EXISTS landed_visits;

DROP VIEW IF EXISTS landed_crawls;

-- 0015_student_t.up.sql
SELECT 1;

-- 0016_months_and_gaps.up.sql
SELECT 1;

-- 0017_brand_prompt_daily.up.sql
CREATE TABLE IF NOT EXISTS brand_prompt_daily_local
(
    organization_id  UUID COMMENT 'organization of the brand',
    brand_id         UUID COMMENT 'id of the brand',
    day              Date COMMENT 'UTC day',
    platform         LowCardinality(String) COMMENT 'slug of the AI platform, of a crawl the one it crawls for, empty: none',
    model            LowCardinality(String) COMMENT 'requested model, empty: none',
    region           LowCardinality(String) COMMENT 'requested region, empty: none',
    topic_id         UUID COMMENT 'topic of the prompt when it was asked, nil: none',
    branded          Bool COMMENT 'the prompt names the brand',
    prompt_id        UUID COMMENT 'prompt that was asked',
    served_model     LowCardinality(String) COMMENT 'model that answered, empty: unknown',
    provider         LowCardinality(String) COMMENT 'who captured the surface, empty: the platform was asked itself',
    runs             Int64 COMMENT 'answers, surfaces without one and given-up runs',
    given_up         Int64 COMMENT 'runs that ended without an answer',
    answers          Int64 COMMENT 'answers: the divisor of rates and averages',
    mention_answers  Int64 COMMENT 'answers that mention the entity',
    citation_answers Int64 COMMENT 'answers that cite its pages',
    inverse_position Int64 COMMENT 'sum of 1/position over mention_answers, in 1/5354228880ths'
)
ENGINE = ReplicatedSummingMergeTree('/clickhouse/answerscope/{database}/{shard}/brand_prompt_daily', '{replica}')
PARTITION BY toYYYYMM(day)
ORDER BY (organization_id, brand_id, day, platform, model, region, topic_id, branded, prompt_id, served_model, provider)
SETTINGS replicated_max_ratio_of_wrong_parts = 1, replicated_deduplication_window = 50000, replicated_deduplication_window_seconds = 604800, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 480, index_granularity = 1024, remove_empty_parts = 0, min_bytes_for_wide_part = 1073741824
COMMENT 'The sums of answer_daily by prompt. Always sum: a key may have several rows. [rebuild]';

CREATE TABLE IF NOT EXISTS brand_prompt_daily AS brand_prompt_daily_local
ENGINE = Distributed('answerscope', currentDatabase(), 'brand_prompt_daily_local')
COMMENT 'The sums of answer_daily by prompt. Always sum: a key may have several rows. [rebuild]';

TRUNCATE TABLE IF EXISTS brand_prompt_daily_local;

INSERT INTO brand_prompt_daily_local
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
    '' AS served_model,
    '' AS provider,
    runs,
    given_up,
    answers,
    mention_answers,
    citation_answers,
    inverse_position
FROM entity_prompt_daily_local
WHERE entity_id = brand_id;

CREATE MATERIALIZED VIEW IF NOT EXISTS brand_prompt_daily_view TO brand_prompt_daily_local AS
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
    served_model,
    provider,
    sum(sign)                                                                AS runs,
    sum(sign * landed.given_up)                                              AS given_up,
    sum(sign * answered)                                                     AS answers,
    sum(sign * (mention_count > 0))                                          AS mention_answers,
    sum(sign * (citation_count > 0))                                         AS citation_answers,
    sum(sign * if(position = 0, 0, toInt64(round(5354228880 / position))))   AS inverse_position
FROM answers_local AS landed
WHERE NOT endsWith(platform, '-shopping')
GROUP BY organization_id, brand_id, day, platform, model, region, topic_id, branded, prompt_id, served_model, provider;

-- 0018_pages.up.sql
SELECT 1;

