-- 0001_answers.up.sql
CREATE TABLE IF NOT EXISTS answers_local
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
ENGINE = ReplicatedMergeTree('/clickhouse/answerscope/{database}/{shard}/answers', '{replica}')
PARTITION BY toYYYYMM(day)
ORDER BY (organization_id, brand_id, day, id)
SETTINGS replicated_deduplication_window = 50000, replicated_deduplication_window_seconds = 604800, fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE IF NOT EXISTS answers AS answers_local
ENGINE = Distributed('answerscope', currentDatabase(), 'answers_local');

-- 0002_answer_daily.up.sql
CREATE TABLE IF NOT EXISTS answer_daily_local
(
    organization_id     UUID,
    brand_id            UUID,
    day                 Date,
    platform            LowCardinality(String),
    model               LowCardinality(String),
    region              LowCardinality(String),
    topic_id            UUID,
    branded             Bool,
    served_model        LowCardinality(String),
    runs                Int64,
    given_up            Int64,
    answers             Int64,
    mention_answers     Int64,
    citation_answers    Int64,
    inverse_position    Int64,
    mentions            Int64,
    citations           Int64,
    visibility          Int64,
    visibility_named    Int64
)
ENGINE = ReplicatedSummingMergeTree('/clickhouse/answerscope/{database}/{shard}/answer_daily', '{replica}')
PARTITION BY toYYYYMM(day)
ORDER BY (organization_id, brand_id, day, platform, model, region, topic_id, branded, served_model)
SETTINGS replicated_deduplication_window = 50000, replicated_deduplication_window_seconds = 604800, fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE IF NOT EXISTS answer_daily AS answer_daily_local
ENGINE = Distributed('answerscope', currentDatabase(), 'answer_daily_local');

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
    sum(sign * told.given_up)                                                AS given_up,
    sum(sign * NOT told.given_up)                                            AS answers,
    sum(sign * (mention_count > 0))                                          AS mention_answers,
    sum(sign * (citation_count > 0))                                         AS citation_answers,
    sum(sign * if(position = 0, 0, toInt64(round(5354228880 / position))))   AS inverse_position,
    sum(sign * mention_count)                                                AS mentions,
    sum(sign * citation_count)                                               AS citations,
    sum(sign * visibility_score)                                             AS visibility,
    sum(sign * if(mention_count > 0, visibility_score, 0))                   AS visibility_named
FROM answers_local AS told
WHERE NOT endsWith(platform, '-shopping')
GROUP BY organization_id, brand_id, day, platform, model, region, topic_id, branded, served_model;

-- 0003_prompt_daily.up.sql
CREATE TABLE IF NOT EXISTS prompt_daily_local
(
    organization_id     UUID,
    brand_id            UUID,
    day                 Date,
    platform            LowCardinality(String),
    model               LowCardinality(String),
    region              LowCardinality(String),
    topic_id            UUID,
    branded             Bool,
    prompt_id           UUID,
    runs                Int64,
    given_up            Int64,
    answers             Int64,
    mention_answers     Int64,
    citation_answers    Int64,
    visible_answers     Int64 COMMENT 'that name or cite the brand',
    inverse_position    Int64,
    mentions            Int64,
    citations           Int64,
    visibility          Int64,
    visibility_named    Int64
)
ENGINE = ReplicatedSummingMergeTree('/clickhouse/answerscope/{database}/{shard}/prompt_daily', '{replica}')
PARTITION BY toYYYYMM(day)
ORDER BY (organization_id, brand_id, day, platform, model, region, topic_id, branded, prompt_id)
SETTINGS replicated_deduplication_window = 50000, replicated_deduplication_window_seconds = 604800, fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE IF NOT EXISTS prompt_daily AS prompt_daily_local
ENGINE = Distributed('answerscope', currentDatabase(), 'prompt_daily_local');

CREATE MATERIALIZED VIEW IF NOT EXISTS prompt_daily_view TO prompt_daily_local AS
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
    sum(sign)                                                                AS runs,
    sum(sign * told.given_up)                                                AS given_up,
    sum(sign * NOT told.given_up)                                            AS answers,
    sum(sign * (mention_count > 0))                                          AS mention_answers,
    sum(sign * (citation_count > 0))                                         AS citation_answers,
    sum(sign * (mention_count > 0 OR citation_count > 0))                    AS visible_answers,
    sum(sign * if(position = 0, 0, toInt64(round(5354228880 / position))))   AS inverse_position,
    sum(sign * mention_count)                                                AS mentions,
    sum(sign * citation_count)                                               AS citations,
    sum(sign * visibility_score)                                             AS visibility,
    sum(sign * if(mention_count > 0, visibility_score, 0))                   AS visibility_named
FROM answers_local AS told
WHERE NOT endsWith(platform, '-shopping')
GROUP BY organization_id, brand_id, day, platform, model, region, topic_id, branded, prompt_id;

-- 0004_competitor_prompt_daily.up.sql
CREATE TABLE IF NOT EXISTS competitor_prompt_daily_local
(
    organization_id     UUID,
    brand_id            UUID,
    day                 Date,
    platform            LowCardinality(String),
    model               LowCardinality(String),
    region              LowCardinality(String),
    topic_id            UUID,
    branded             Bool,
    prompt_id           UUID,
    competitor_id       UUID,
    visible_answers     Int64,
    mention_answers     Int64,
    citation_answers    Int64,
    inverse_position    Int64,
    mentions            Int64,
    citations           Int64,
    visibility          Int64,
    visibility_named    Int64
)
ENGINE = ReplicatedSummingMergeTree('/clickhouse/answerscope/{database}/{shard}/competitor_prompt_daily', '{replica}')
PARTITION BY toYYYYMM(day)
ORDER BY (organization_id, brand_id, day, platform, model, region, topic_id, branded, prompt_id, competitor_id)
SETTINGS replicated_deduplication_window = 50000, replicated_deduplication_window_seconds = 604800, fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE IF NOT EXISTS competitor_prompt_daily AS competitor_prompt_daily_local
ENGINE = Distributed('answerscope', currentDatabase(), 'competitor_prompt_daily_local');

CREATE MATERIALIZED VIEW IF NOT EXISTS competitor_prompt_daily_view TO competitor_prompt_daily_local AS
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
    c.id                                                                         AS competitor_id,
    sum(sign)                                                                    AS visible_answers,
    sum(sign * (c.mention_count > 0))                                            AS mention_answers,
    sum(sign * (c.citation_count > 0))                                           AS citation_answers,
    sum(sign * if(c.position = 0, 0, toInt64(round(5354228880 / c.position))))   AS inverse_position,
    sum(sign * c.mention_count)                                                  AS mentions,
    sum(sign * c.citation_count)                                                 AS citations,
    sum(sign * c.visibility_score)                                               AS visibility,
    sum(sign * if(c.mention_count > 0, c.visibility_score, 0))                   AS visibility_named
FROM answers_local
ARRAY JOIN competitors AS c
WHERE NOT endsWith(platform, '-shopping')
  AND (c.mention_count > 0 OR c.citation_count > 0)
GROUP BY organization_id, brand_id, day, platform, model, region, topic_id, branded, prompt_id, competitor_id;

-- 0005_citations.up.sql
CREATE TABLE IF NOT EXISTS citations_local
(
    organization_id     UUID,
    brand_id            UUID,
    day                 Date,
    platform            LowCardinality(String),
    model               LowCardinality(String),
    region              LowCardinality(String),
    topic_id            UUID,
    branded             Bool,
    prompt_id           UUID,
    answer_id           UUID,
    url                 String CODEC(ZSTD(1)),
    domain              LowCardinality(String) COMMENT 'registrable domain of the host',
    title               String CODEC(ZSTD(1)),
    listed_type         LowCardinality(String) COMMENT 'source type without regard to who owns the domain',
    owned               Bool,
    competitor_id       UUID COMMENT 'nil: no competitor''s',
    sign                Int8
)
ENGINE = ReplicatedMergeTree('/clickhouse/answerscope/{database}/{shard}/citations', '{replica}')
PARTITION BY toYYYYMM(day)
ORDER BY (organization_id, brand_id, day, domain, url, answer_id)
SETTINGS replicated_deduplication_window = 50000, replicated_deduplication_window_seconds = 604800, fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE IF NOT EXISTS citations AS citations_local
ENGINE = Distributed('answerscope', currentDatabase(), 'citations_local');

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

-- 0006_shopping_cards.up.sql
CREATE TABLE IF NOT EXISTS shopping_cards_local
(
    organization_id     UUID,
    brand_id            UUID,
    day                 Date,
    platform            LowCardinality(String),
    model               LowCardinality(String),
    region              LowCardinality(String),
    topic_id            UUID,
    branded             Bool,
    answered_at         DateTime64(3, 'UTC'),
    answer_id           UUID,
    id                  UUID,
    position            UInt32,
    title               String CODEC(ZSTD(1)),
    product_brand       String CODEC(ZSTD(1)),
    price_amount        Nullable(Decimal(18, 4)),
    price_currency      LowCardinality(String),
    image_url           String CODEC(ZSTD(1)),
    merchant_url        String CODEC(ZSTD(1)),
    merchant_domain     String CODEC(ZSTD(1)),
    rating              Nullable(Float64),
    review_count        Nullable(Int64),
    matched_id          UUID COMMENT 'the brand or competitor it was matched with, nil: none',
    role                LowCardinality(String),
    sign                Int8
)
ENGINE = ReplicatedMergeTree('/clickhouse/answerscope/{database}/{shard}/shopping_cards', '{replica}')
PARTITION BY toYYYYMM(day)
ORDER BY (organization_id, brand_id, day, answered_at, id)
SETTINGS replicated_deduplication_window = 50000, replicated_deduplication_window_seconds = 604800, fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE IF NOT EXISTS shopping_cards AS shopping_cards_local
ENGINE = Distributed('answerscope', currentDatabase(), 'shopping_cards_local');

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
    told.id AS answer_id,
    reinterpretAsUUID(sipHash128(told.id, place)) AS id,
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
FROM answers_local AS told
ARRAY JOIN
    cards AS c,
    arrayEnumerate(cards.position) AS place;

-- 0007_log_progress.up.sql
CREATE TABLE IF NOT EXISTS log_progress_local
(
    log_topic       LowCardinality(String),
    log_partition   Int32,
    last_offset     SimpleAggregateFunction(max, Int64)
)
ENGINE = ReplicatedAggregatingMergeTree('/clickhouse/answerscope/{database}/{shard}/log_progress', '{replica}')
ORDER BY (log_topic, log_partition)
SETTINGS replicated_deduplication_window = 50000, replicated_deduplication_window_seconds = 604800, fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE IF NOT EXISTS log_progress AS log_progress_local
ENGINE = Distributed('answerscope', currentDatabase(), 'log_progress_local');

CREATE MATERIALIZED VIEW IF NOT EXISTS log_progress_answers_view TO log_progress_local AS
SELECT
    log_topic,
    log_partition,
    max(log_offset) AS last_offset
FROM answers_local
GROUP BY log_topic, log_partition;

-- 0008_deadletters.up.sql
CREATE TABLE IF NOT EXISTS deadletters_local
(
    log_topic       LowCardinality(String),
    log_partition   Int32,
    log_offset      Int64,
    appended_at     DateTime64(3, 'UTC') COMMENT 'the record''s time on the log',
    key             String,
    value           String CODEC(ZSTD(1)),
    reason          LowCardinality(String),
    detail          String
)
ENGINE = ReplicatedMergeTree('/clickhouse/answerscope/{database}/{shard}/deadletters', '{replica}')
PARTITION BY toYYYYMM(appended_at)
ORDER BY (log_topic, log_partition, log_offset)
SETTINGS replicated_deduplication_window = 50000, replicated_deduplication_window_seconds = 604800, fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE IF NOT EXISTS deadletters AS deadletters_local
ENGINE = Distributed('answerscope', currentDatabase(), 'deadletters_local');

CREATE MATERIALIZED VIEW IF NOT EXISTS log_progress_deadletters_view TO log_progress_local AS
SELECT
    log_topic,
    log_partition,
    max(log_offset) AS last_offset
FROM deadletters_local
GROUP BY log_topic, log_partition;

-- 0009_dimensions.up.sql
CREATE TABLE IF NOT EXISTS dimension_brands
(
    organization_id UUID,
    id              UUID,
    name            String,
    slug            String,
    aliases         Array(String),
    domains         Array(String),
    industry        String,
    region          String,
    language        String,
    revision        Int64,
    is_active       Bool,
    version         UInt64,
    deleted         Bool
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/answerscope/{database}/{shard}/dimension_brands', '{replica}', version)
ORDER BY (organization_id, id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE IF NOT EXISTS dimension_competitors
(
    organization_id UUID,
    brand_id        UUID,
    id              UUID,
    name            String,
    aliases         Array(String),
    domains         Array(String),
    version         UInt64,
    deleted         Bool
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/answerscope/{database}/{shard}/dimension_competitors', '{replica}', version)
ORDER BY (organization_id, brand_id, id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE IF NOT EXISTS dimension_prompts
(
    organization_id UUID,
    brand_id        UUID,
    id              UUID,
    topic_id        UUID COMMENT 'nil: none',
    text            String,
    is_branded      Nullable(Bool),
    is_active       Bool,
    version         UInt64,
    deleted         Bool
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/answerscope/{database}/{shard}/dimension_prompts', '{replica}', version)
ORDER BY (organization_id, brand_id, id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

CREATE TABLE IF NOT EXISTS dimension_topics
(
    organization_id UUID,
    brand_id        UUID,
    id              UUID,
    name            String,
    is_active       Bool,
    version         UInt64,
    deleted         Bool
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/answerscope/{database}/{shard}/dimension_topics', '{replica}', version)
ORDER BY (organization_id, brand_id, id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

-- 0010_visits.up.sql
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
    platform_by     LowCardinality(String) COMMENT 'what told the platform: referrer, utm, parameter, referrer_utm or session, empty: not said',
    host            LowCardinality(String) COMMENT 'host of the page',
    path            String COMMENT 'path of the page, without query' CODEC(ZSTD(1)),
    referrer_host   LowCardinality(String) COMMENT 'host of the page before, empty: unknown',
    country         LowCardinality(String) COMMENT 'ISO 3166-1 alpha-2, empty: unknown',
    country_by      LowCardinality(String) COMMENT 'what told the country: database, header or time_zone, empty: unknown',
    language        LowCardinality(String) COMMENT 'of the browser, empty: unknown',
    screen          LowCardinality(String) COMMENT 'width and height in pixels as 1920x1080, empty: unknown',
    time_zone       LowCardinality(String) COMMENT 'IANA name, empty: unknown',
    session         String COMMENT 'random name of the tab''s session, empty: unknown' CODEC(ZSTD(1)),
    new_session     Bool COMMENT 'first view of its session',
    visitor         UInt64 COMMENT 'salted hash that tells visitors of one day apart, 0: unknown',
    goal_name       LowCardinality(String) COMMENT 'name of the goal, empty: a view',
    goal_value      Nullable(Decimal(18, 6)) COMMENT 'worth of the goal in goal_currency, NULL: none was told',
    goal_currency   LowCardinality(String) COMMENT 'ISO 4217, empty: none was told',
    simulated       Bool COMMENT 'made by the simulator, nobody visited',

    INDEX log_offset log_offset TYPE minmax GRANULARITY 1
)
ENGINE = ReplicatedMergeTree('/clickhouse/answerscope/{database}/{shard}/visits', '{replica}')
PARTITION BY toYYYYMM(day)
ORDER BY (organization_id, brand_id, day, toUInt64(bitShiftRight(toUInt128(id), 80)))
SETTINGS replicated_deduplication_window = 50000, replicated_deduplication_window_seconds = 604800, fsync_after_insert = 1, fsync_part_directory = 1
COMMENT 'Visits that AI platforms sent, one row each, as they were told. For figures visit_daily is faster.';

CREATE TABLE IF NOT EXISTS visits AS visits_local
ENGINE = Distributed('answerscope', currentDatabase(), 'visits_local')
COMMENT 'Visits that AI platforms sent, one row each, as they were told. For figures visit_daily is faster.';

CREATE MATERIALIZED VIEW IF NOT EXISTS log_progress_visits_view TO log_progress_local AS
SELECT
    log_topic,
    log_partition,
    max(log_offset) AS last_offset
FROM visits_local
GROUP BY log_topic, log_partition;

-- 0011_visit_daily.up.sql
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
    currency        LowCardinality(String) COMMENT 'of value, ISO 4217, empty: none was told',
    visits          Int64 COMMENT 'views or goals, as event says',
    sessions        Int64 COMMENT 'views that began a session: this was their landing page',
    value           Decimal(38, 6) COMMENT 'sum of the goals'' values in currency, exact'
)
ENGINE = ReplicatedSummingMergeTree('/clickhouse/answerscope/{database}/{shard}/visit_daily', '{replica}', (visits, sessions, value))
PARTITION BY toYYYYMM(day)
ORDER BY (organization_id, brand_id, day, platform, host, path, country, event, goal, currency)
SETTINGS replicated_deduplication_window = 50000, replicated_deduplication_window_seconds = 604800, fsync_after_insert = 1, fsync_part_directory = 1, index_granularity = 1024
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
    toInt64(countIf(told.new_session))          AS sessions,
    sum(ifNull(goal_value, toDecimal64(0, 6)))  AS value
FROM visits_local AS told
GROUP BY organization_id, brand_id, day, platform, host, path, country, event, goal, currency;

-- 0012_citation_daily.up.sql
CREATE TABLE IF NOT EXISTS citation_daily_local
(
    organization_id         UUID COMMENT 'organization that the brand belongs to',
    brand_id                UUID COMMENT 'brand that the answers are read for',
    day                     Date COMMENT 'UTC day of the answers',
    domain                  LowCardinality(String) COMMENT 'registrable domain of the cited host',
    url                     String COMMENT 'cited URL, normalised, empty: the row counts answers',
    title                   String COMMENT 'as the answers tell it, empty: they tell none',
    source_type             LowCardinality(String) COMMENT 'owned, competitor, forum, social, review, institutional or editorial: the first that fits',
    competitor_id           UUID COMMENT 'competitor whose domain it is, nil: no competitor''s',
    platform                LowCardinality(String) COMMENT 'slug of the AI platform that answered',
    model                   LowCardinality(String) COMMENT 'requested model, empty: none was named',
    region                  LowCardinality(String) COMMENT 'region that was asked for, empty: none',
    topic_id                UUID COMMENT 'topic of the prompt when it was asked, nil: none',
    branded                 Bool COMMENT 'the prompt names the brand',
    entry                   UInt128 COMMENT 'hash of domain, url, title, source_type and model',
    answers                 Int64 COMMENT 'answers, whatever they cite: in rows without a url',
    citations               Int64 COMMENT 'citations, which are answers that cite the url',
    citing_answers          Int64 COMMENT 'citations that are the first of their answer',
    citing_answers_source   Int64 COMMENT 'the first of their answer among owned, a competitor''s or external ones',
    domain_answers          Int64 COMMENT 'the first of their answer to the domain',
    domain_answers_source   Int64 COMMENT 'the first of their answer to the domain among owned, a competitor''s or external ones'
)
ENGINE = ReplicatedSummingMergeTree('/clickhouse/answerscope/{database}/{shard}/citation_daily', '{replica}', (answers, citations, citing_answers, citing_answers_source, domain_answers, domain_answers_source))
PARTITION BY toYYYYMM(day)
ORDER BY (organization_id, brand_id, day, domain, url, title, source_type, competitor_id, platform, model, region, topic_id, branded)
SETTINGS replicated_deduplication_window = 50000, replicated_deduplication_window_seconds = 604800, fsync_after_insert = 1, fsync_part_directory = 1
COMMENT 'What answers cite by day, page and every filter, and how many answers there are. Rows of one key may be several until they merge: sum them.';

CREATE TABLE IF NOT EXISTS citation_daily AS citation_daily_local
ENGINE = Distributed('answerscope', currentDatabase(), 'citation_daily_local')
COMMENT 'What answers cite by day, page and every filter, and how many answers there are. Rows of one key may be several until they merge: sum them.';

CREATE MATERIALIZED VIEW IF NOT EXISTS citation_daily_view TO citation_daily_local AS
WITH arrayMap(
        (owned, rival, listed) -> multiIf(owned, 'owned', rival != toUUID('00000000-0000-0000-0000-000000000000'), 'competitor', listed),
        told.citations.owned, told.citations.competitor_id, told.citations.listed_type) AS types,
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
FROM answers_local AS told
ARRAY JOIN
    arrayPushFront(told.citations.url, '') AS url,
    arrayPushFront(told.citations.title, '') AS title,
    arrayPushFront(told.citations.cited, true) AS cited,
    arrayPushFront(told.citations.domain, '') AS domain,
    arrayPushFront(types, '') AS source_type,
    arrayPushFront(told.citations.competitor_id, toUUID('00000000-0000-0000-0000-000000000000')) AS competitor_id,
    arrayPushFront(arrayEnumerateUniq(told.citations.cited), 0) AS of_answer,
    arrayPushFront(arrayEnumerateUniq(told.citations.cited, sources), 0) AS of_answer_source,
    arrayPushFront(arrayEnumerateUniq(told.citations.cited, told.citations.domain), 0) AS of_domain,
    arrayPushFront(arrayEnumerateUniq(told.citations.cited, told.citations.domain, sources), 0) AS of_domain_source
WHERE NOT endsWith(platform, '-shopping')
  AND NOT given_up
  AND cited;

TRUNCATE TABLE citation_daily_local;

INSERT INTO citation_daily_local
WITH arrayMap(
        (owned, rival, listed) -> multiIf(owned, 'owned', rival != toUUID('00000000-0000-0000-0000-000000000000'), 'competitor', listed),
        told.citations.owned, told.citations.competitor_id, told.citations.listed_type) AS types,
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
FROM answers_local AS told
ARRAY JOIN
    arrayPushFront(told.citations.url, '') AS url,
    arrayPushFront(told.citations.title, '') AS title,
    arrayPushFront(told.citations.cited, true) AS cited,
    arrayPushFront(told.citations.domain, '') AS domain,
    arrayPushFront(types, '') AS source_type,
    arrayPushFront(told.citations.competitor_id, toUUID('00000000-0000-0000-0000-000000000000')) AS competitor_id,
    arrayPushFront(arrayEnumerateUniq(told.citations.cited), 0) AS of_answer,
    arrayPushFront(arrayEnumerateUniq(told.citations.cited, sources), 0) AS of_answer_source,
    arrayPushFront(arrayEnumerateUniq(told.citations.cited, told.citations.domain), 0) AS of_domain,
    arrayPushFront(arrayEnumerateUniq(told.citations.cited, told.citations.domain, sources), 0) AS of_domain_source
WHERE NOT endsWith(platform, '-shopping')
  AND NOT given_up
  AND cited
  AND NOT arrayExists(
        batch -> batch.1 = log_topic AND batch.2 = log_partition AND batch.3 <= log_offset,
        (SELECT groupArray((log_topic, log_partition, first_offset)) FROM open_batches))
SETTINGS max_partitions_per_insert_block = 0, insert_deduplicate = 0;

-- 0013_comments.up.sql
ALTER TABLE answers_local
    COMMENT COLUMN IF EXISTS organization_id 'organization that the brand belongs to',
    COMMENT COLUMN IF EXISTS brand_id 'brand that the answers are read for',
    COMMENT COLUMN IF EXISTS id 'of the run, the same in all its rows',
    COMMENT COLUMN IF EXISTS sign '1: this reading counts, -1: an earlier reading is taken back. Figures are sums of sign x value',
    COMMENT COLUMN IF EXISTS extract_version 'of the rules by which the row was read',
    COMMENT COLUMN IF EXISTS log_topic 'topic of the record, with its prefix',
    COMMENT COLUMN IF EXISTS log_partition 'partition of the record',
    COMMENT COLUMN IF EXISTS log_offset 'offset of the record in its partition',
    COMMENT COLUMN IF EXISTS answered_at 'when the answer came, or the run was given up, UTC',
    COMMENT COLUMN IF EXISTS platform 'slug of the AI platform that was asked',
    COMMENT COLUMN IF EXISTS model 'requested model, empty: none was named',
    COMMENT COLUMN IF EXISTS served_model 'model that the platform says has answered, empty: not said',
    COMMENT COLUMN IF EXISTS region 'region that was asked for, empty: none',
    COMMENT COLUMN IF EXISTS language 'language that was asked in, empty: not said',
    COMMENT COLUMN IF EXISTS surface 'api or consumer: where the answer was taken, empty: not said',
    COMMENT COLUMN IF EXISTS sample '1-based: of runs that are alike but for it',
    COMMENT COLUMN IF EXISTS prompt_id 'prompt that was asked',
    COMMENT COLUMN IF EXISTS prompt_set_id 'set that the prompt was in when it was asked',
    COMMENT COLUMN IF EXISTS topic_id 'topic of the prompt when it was asked, nil: none',
    COMMENT COLUMN IF EXISTS prompt_text 'what was asked',
    COMMENT COLUMN IF EXISTS branded 'the prompt names the brand, as set on it or as read from its text',
    COMMENT COLUMN IF EXISTS job_id 'job that asked, nil: none',
    COMMENT COLUMN IF EXISTS simulated 'made by the simulator, no platform was asked',
    COMMENT COLUMN IF EXISTS given_up 'the run ended without an answer. Such rows are in no figure but runs and given_up',
    COMMENT COLUMN IF EXISTS given_up_class 'rate_limited, quota, auth, invalid, unavailable, timeout, content_filtered or changed_shape, empty: not given up',
    COMMENT COLUMN IF EXISTS given_up_error 'what the platform said, empty: not given up',
    COMMENT COLUMN IF EXISTS attempts 'how often the platform was asked until the run ended',
    COMMENT COLUMN IF EXISTS latency_ms 'milliseconds until the answer was there, 0: not told',
    COMMENT COLUMN IF EXISTS finish 'how the text ended: complete, truncated or content_filtered, empty: not told',
    COMMENT COLUMN IF EXISTS text 'the answer, on the first row of an id only',
    COMMENT COLUMN IF EXISTS search_queries 'what the platform searched for, on the first row of an id only',
    COMMENT COLUMN IF EXISTS `raw_citations.url` 'citations as returned, in order, on the first row of an id only',
    COMMENT COLUMN IF EXISTS `raw_citations.title` 'of raw_citations.url',
    COMMENT COLUMN IF EXISTS `raw_citations.cited` 'of raw_citations.url, false: only consulted',
    COMMENT COLUMN IF EXISTS raw_products 'shopping cards as told, JSON, on the first row of an id only',
    COMMENT COLUMN IF EXISTS input_tokens 'tokens of what was asked, on the first row of an id only',
    COMMENT COLUMN IF EXISTS output_tokens 'tokens of the answer, on the first row of an id only',
    COMMENT COLUMN IF EXISTS searches 'searches that the platform made, on the first row of an id only',
    COMMENT COLUMN IF EXISTS cost_usd 'cost of the run in US dollars, on the first row of an id only',
    COMMENT COLUMN IF EXISTS brand_name 'name of the brand when the row was read',
    COMMENT COLUMN IF EXISTS mention_count 'occurrences of names of the brand in the text',
    COMMENT COLUMN IF EXISTS visibility_score 'legacy intensity of the brand in the answer, 0 to 100',
    COMMENT COLUMN IF EXISTS sentiment 'of the sentences that name the brand: positive, neutral, negative or unknown',
    COMMENT COLUMN IF EXISTS sentiment_method 'what told the sentiment',
    COMMENT COLUMN IF EXISTS `competitors.id` 'competitors that the answer was read for, named or not',
    COMMENT COLUMN IF EXISTS `competitors.name` 'of competitors.id, when the row was read',
    COMMENT COLUMN IF EXISTS `competitors.mention_count` 'of competitors.id: occurrences of their names',
    COMMENT COLUMN IF EXISTS `competitors.position` 'of competitors.id: 1-based among the tracked entities, 0: not named',
    COMMENT COLUMN IF EXISTS `competitors.citation_count` 'of competitors.id: citations of pages on their domains',
    COMMENT COLUMN IF EXISTS `competitors.visibility_score` 'of competitors.id: legacy intensity, 0 to 100',
    COMMENT COLUMN IF EXISTS `competitors.sentiment` 'of competitors.id: positive, neutral, negative or unknown',
    COMMENT COLUMN IF EXISTS `citations.url` 'URLs of the answer, normalised, once each',
    COMMENT COLUMN IF EXISTS `citations.title` 'of citations.url: the first non-empty one, empty: none has one',
    COMMENT COLUMN IF EXISTS `citations.cited` 'of citations.url, false: only consulted, in no figure',
    COMMENT COLUMN IF EXISTS `citations.host` 'of citations.url, without www.',
    COMMENT COLUMN IF EXISTS `citations.domain` 'of citations.url: registrable domain of the host',
    COMMENT COLUMN IF EXISTS `citations.listed_type` 'of citations.url: forum, social, review, institutional or editorial, without regard to who owns the domain',
    COMMENT COLUMN IF EXISTS `citations.owned` 'of citations.url: it is on a domain of the brand',
    COMMENT COLUMN IF EXISTS `citations.competitor_id` 'of citations.url: competitor on whose domain it is, nil: no competitor''s',
    COMMENT COLUMN IF EXISTS `cards.position` 'shopping cards: 1-based place in the answer',
    COMMENT COLUMN IF EXISTS `cards.title` 'of a card: title of the product',
    COMMENT COLUMN IF EXISTS `cards.brand` 'of a card: brand of the product as told, empty: not told',
    COMMENT COLUMN IF EXISTS `cards.price_amount` 'of a card: price in cards.price_currency, NULL: not told',
    COMMENT COLUMN IF EXISTS `cards.price_currency` 'of a card: ISO 4217, empty: not told',
    COMMENT COLUMN IF EXISTS `cards.image_url` 'of a card, empty: not told',
    COMMENT COLUMN IF EXISTS `cards.merchant_url` 'of a card: where it is sold, empty: not told',
    COMMENT COLUMN IF EXISTS `cards.merchant_domain` 'of a card: registrable domain of cards.merchant_url',
    COMMENT COLUMN IF EXISTS `cards.rating` 'of a card: as told, NULL: not told',
    COMMENT COLUMN IF EXISTS `cards.review_count` 'of a card: as told, NULL: not told',
    COMMENT COLUMN IF EXISTS `cards.matched_id` 'of a card: brand or competitor whose product it is, nil: neither',
    COMMENT COLUMN IF EXISTS `cards.role` 'of a card: own, competitor or other',
    MODIFY COMMENT 'Every telling of every run, as it was told and as it was read. A correction is two more rows, of sign -1 and 1. The rollups are faster.';

ALTER TABLE answers
    COMMENT COLUMN IF EXISTS organization_id 'organization that the brand belongs to',
    COMMENT COLUMN IF EXISTS brand_id 'brand that the answers are read for',
    COMMENT COLUMN IF EXISTS id 'of the run, the same in all its rows',
    COMMENT COLUMN IF EXISTS sign '1: this reading counts, -1: an earlier reading is taken back. Figures are sums of sign x value',
    COMMENT COLUMN IF EXISTS extract_version 'of the rules by which the row was read',
    COMMENT COLUMN IF EXISTS log_topic 'topic of the record, with its prefix',
    COMMENT COLUMN IF EXISTS log_partition 'partition of the record',
    COMMENT COLUMN IF EXISTS log_offset 'offset of the record in its partition',
    COMMENT COLUMN IF EXISTS answered_at 'when the answer came, or the run was given up, UTC',
    COMMENT COLUMN IF EXISTS platform 'slug of the AI platform that was asked',
    COMMENT COLUMN IF EXISTS model 'requested model, empty: none was named',
    COMMENT COLUMN IF EXISTS served_model 'model that the platform says has answered, empty: not said',
    COMMENT COLUMN IF EXISTS region 'region that was asked for, empty: none',
    COMMENT COLUMN IF EXISTS language 'language that was asked in, empty: not said',
    COMMENT COLUMN IF EXISTS surface 'api or consumer: where the answer was taken, empty: not said',
    COMMENT COLUMN IF EXISTS sample '1-based: of runs that are alike but for it',
    COMMENT COLUMN IF EXISTS prompt_id 'prompt that was asked',
    COMMENT COLUMN IF EXISTS prompt_set_id 'set that the prompt was in when it was asked',
    COMMENT COLUMN IF EXISTS topic_id 'topic of the prompt when it was asked, nil: none',
    COMMENT COLUMN IF EXISTS prompt_text 'what was asked',
    COMMENT COLUMN IF EXISTS branded 'the prompt names the brand, as set on it or as read from its text',
    COMMENT COLUMN IF EXISTS job_id 'job that asked, nil: none',
    COMMENT COLUMN IF EXISTS simulated 'made by the simulator, no platform was asked',
    COMMENT COLUMN IF EXISTS given_up 'the run ended without an answer. Such rows are in no figure but runs and given_up',
    COMMENT COLUMN IF EXISTS given_up_class 'rate_limited, quota, auth, invalid, unavailable, timeout, content_filtered or changed_shape, empty: not given up',
    COMMENT COLUMN IF EXISTS given_up_error 'what the platform said, empty: not given up',
    COMMENT COLUMN IF EXISTS attempts 'how often the platform was asked until the run ended',
    COMMENT COLUMN IF EXISTS latency_ms 'milliseconds until the answer was there, 0: not told',
    COMMENT COLUMN IF EXISTS finish 'how the text ended: complete, truncated or content_filtered, empty: not told',
    COMMENT COLUMN IF EXISTS text 'the answer, on the first row of an id only',
    COMMENT COLUMN IF EXISTS search_queries 'what the platform searched for, on the first row of an id only',
    COMMENT COLUMN IF EXISTS `raw_citations.url` 'citations as returned, in order, on the first row of an id only',
    COMMENT COLUMN IF EXISTS `raw_citations.title` 'of raw_citations.url',
    COMMENT COLUMN IF EXISTS `raw_citations.cited` 'of raw_citations.url, false: only consulted',
    COMMENT COLUMN IF EXISTS raw_products 'shopping cards as told, JSON, on the first row of an id only',
    COMMENT COLUMN IF EXISTS input_tokens 'tokens of what was asked, on the first row of an id only',
    COMMENT COLUMN IF EXISTS output_tokens 'tokens of the answer, on the first row of an id only',
    COMMENT COLUMN IF EXISTS searches 'searches that the platform made, on the first row of an id only',
    COMMENT COLUMN IF EXISTS cost_usd 'cost of the run in US dollars, on the first row of an id only',
    COMMENT COLUMN IF EXISTS brand_name 'name of the brand when the row was read',
    COMMENT COLUMN IF EXISTS mention_count 'occurrences of names of the brand in the text',
    COMMENT COLUMN IF EXISTS visibility_score 'legacy intensity of the brand in the answer, 0 to 100',
    COMMENT COLUMN IF EXISTS sentiment 'of the sentences that name the brand: positive, neutral, negative or unknown',
    COMMENT COLUMN IF EXISTS sentiment_method 'what told the sentiment',
    COMMENT COLUMN IF EXISTS `competitors.id` 'competitors that the answer was read for, named or not',
    COMMENT COLUMN IF EXISTS `competitors.name` 'of competitors.id, when the row was read',
    COMMENT COLUMN IF EXISTS `competitors.mention_count` 'of competitors.id: occurrences of their names',
    COMMENT COLUMN IF EXISTS `competitors.position` 'of competitors.id: 1-based among the tracked entities, 0: not named',
    COMMENT COLUMN IF EXISTS `competitors.citation_count` 'of competitors.id: citations of pages on their domains',
    COMMENT COLUMN IF EXISTS `competitors.visibility_score` 'of competitors.id: legacy intensity, 0 to 100',
    COMMENT COLUMN IF EXISTS `competitors.sentiment` 'of competitors.id: positive, neutral, negative or unknown',
    COMMENT COLUMN IF EXISTS `citations.url` 'URLs of the answer, normalised, once each',
    COMMENT COLUMN IF EXISTS `citations.title` 'of citations.url: the first non-empty one, empty: none has one',
    COMMENT COLUMN IF EXISTS `citations.cited` 'of citations.url, false: only consulted, in no figure',
    COMMENT COLUMN IF EXISTS `citations.host` 'of citations.url, without www.',
    COMMENT COLUMN IF EXISTS `citations.domain` 'of citations.url: registrable domain of the host',
    COMMENT COLUMN IF EXISTS `citations.listed_type` 'of citations.url: forum, social, review, institutional or editorial, without regard to who owns the domain',
    COMMENT COLUMN IF EXISTS `citations.owned` 'of citations.url: it is on a domain of the brand',
    COMMENT COLUMN IF EXISTS `citations.competitor_id` 'of citations.url: competitor on whose domain it is, nil: no competitor''s',
    COMMENT COLUMN IF EXISTS `cards.position` 'shopping cards: 1-based place in the answer',
    COMMENT COLUMN IF EXISTS `cards.title` 'of a card: title of the product',
    COMMENT COLUMN IF EXISTS `cards.brand` 'of a card: brand of the product as told, empty: not told',
    COMMENT COLUMN IF EXISTS `cards.price_amount` 'of a card: price in cards.price_currency, NULL: not told',
    COMMENT COLUMN IF EXISTS `cards.price_currency` 'of a card: ISO 4217, empty: not told',
    COMMENT COLUMN IF EXISTS `cards.image_url` 'of a card, empty: not told',
    COMMENT COLUMN IF EXISTS `cards.merchant_url` 'of a card: where it is sold, empty: not told',
    COMMENT COLUMN IF EXISTS `cards.merchant_domain` 'of a card: registrable domain of cards.merchant_url',
    COMMENT COLUMN IF EXISTS `cards.rating` 'of a card: as told, NULL: not told',
    COMMENT COLUMN IF EXISTS `cards.review_count` 'of a card: as told, NULL: not told',
    COMMENT COLUMN IF EXISTS `cards.matched_id` 'of a card: brand or competitor whose product it is, nil: neither',
    COMMENT COLUMN IF EXISTS `cards.role` 'of a card: own, competitor or other',
    MODIFY COMMENT 'Every telling of every run, as it was told and as it was read. A correction is two more rows, of sign -1 and 1. The rollups are faster.';

ALTER TABLE answer_daily_local
    COMMENT COLUMN IF EXISTS organization_id 'organization that the brand belongs to',
    COMMENT COLUMN IF EXISTS brand_id 'brand that the answers are read for',
    COMMENT COLUMN IF EXISTS day 'UTC day of the answers',
    COMMENT COLUMN IF EXISTS platform 'slug of the AI platform that answered',
    COMMENT COLUMN IF EXISTS model 'requested model, empty: none was named',
    COMMENT COLUMN IF EXISTS region 'region that was asked for, empty: none',
    COMMENT COLUMN IF EXISTS topic_id 'topic of the prompt when it was asked, nil: none',
    COMMENT COLUMN IF EXISTS branded 'the prompt names the brand',
    COMMENT COLUMN IF EXISTS served_model 'model that the platform says has answered, empty: not said',
    COMMENT COLUMN IF EXISTS runs 'answers and given-up runs',
    COMMENT COLUMN IF EXISTS given_up 'runs that ended without an answer',
    COMMENT COLUMN IF EXISTS answers 'answers, by which rates and averages are divided',
    COMMENT COLUMN IF EXISTS mention_answers 'answers that name the brand',
    COMMENT COLUMN IF EXISTS citation_answers 'answers that cite a page of the brand',
    COMMENT COLUMN IF EXISTS inverse_position 'sum of 1/position over the answers that name the brand, in 1/5354228880ths',
    COMMENT COLUMN IF EXISTS mentions 'occurrences of names of the brand',
    COMMENT COLUMN IF EXISTS citations 'citations of pages on domains of the brand',
    COMMENT COLUMN IF EXISTS visibility 'sum of visibility_score over all answers, each 0 to 100',
    COMMENT COLUMN IF EXISTS visibility_named 'sum of visibility_score over the answers that name the brand, each 0 to 100',
    MODIFY COMMENT 'Sums of the answers of a brand by day and every filter. Rows of one key may be several until they merge: sum them. Shopping platforms are left out.';

ALTER TABLE answer_daily
    COMMENT COLUMN IF EXISTS organization_id 'organization that the brand belongs to',
    COMMENT COLUMN IF EXISTS brand_id 'brand that the answers are read for',
    COMMENT COLUMN IF EXISTS day 'UTC day of the answers',
    COMMENT COLUMN IF EXISTS platform 'slug of the AI platform that answered',
    COMMENT COLUMN IF EXISTS model 'requested model, empty: none was named',
    COMMENT COLUMN IF EXISTS region 'region that was asked for, empty: none',
    COMMENT COLUMN IF EXISTS topic_id 'topic of the prompt when it was asked, nil: none',
    COMMENT COLUMN IF EXISTS branded 'the prompt names the brand',
    COMMENT COLUMN IF EXISTS served_model 'model that the platform says has answered, empty: not said',
    COMMENT COLUMN IF EXISTS runs 'answers and given-up runs',
    COMMENT COLUMN IF EXISTS given_up 'runs that ended without an answer',
    COMMENT COLUMN IF EXISTS answers 'answers, by which rates and averages are divided',
    COMMENT COLUMN IF EXISTS mention_answers 'answers that name the brand',
    COMMENT COLUMN IF EXISTS citation_answers 'answers that cite a page of the brand',
    COMMENT COLUMN IF EXISTS inverse_position 'sum of 1/position over the answers that name the brand, in 1/5354228880ths',
    COMMENT COLUMN IF EXISTS mentions 'occurrences of names of the brand',
    COMMENT COLUMN IF EXISTS citations 'citations of pages on domains of the brand',
    COMMENT COLUMN IF EXISTS visibility 'sum of visibility_score over all answers, each 0 to 100',
    COMMENT COLUMN IF EXISTS visibility_named 'sum of visibility_score over the answers that name the brand, each 0 to 100',
    MODIFY COMMENT 'Sums of the answers of a brand by day and every filter. Rows of one key may be several until they merge: sum them. Shopping platforms are left out.';

ALTER TABLE citations_local
    COMMENT COLUMN IF EXISTS organization_id 'organization that the brand belongs to',
    COMMENT COLUMN IF EXISTS brand_id 'brand that the answers are read for',
    COMMENT COLUMN IF EXISTS day 'UTC day of the answers',
    COMMENT COLUMN IF EXISTS platform 'slug of the AI platform that answered',
    COMMENT COLUMN IF EXISTS model 'requested model, empty: none was named',
    COMMENT COLUMN IF EXISTS region 'region that was asked for, empty: none',
    COMMENT COLUMN IF EXISTS topic_id 'topic of the prompt when it was asked, nil: none',
    COMMENT COLUMN IF EXISTS branded 'the prompt names the brand',
    COMMENT COLUMN IF EXISTS prompt_id 'prompt that was asked',
    COMMENT COLUMN IF EXISTS answer_id 'id of the answer',
    COMMENT COLUMN IF EXISTS url 'cited URL, normalised',
    COMMENT COLUMN IF EXISTS domain 'registrable domain of the host',
    COMMENT COLUMN IF EXISTS title 'as the answer tells it, empty: it tells none',
    COMMENT COLUMN IF EXISTS listed_type 'forum, social, review, institutional or editorial, without regard to who owns the domain',
    COMMENT COLUMN IF EXISTS owned 'it is on a domain of the brand',
    COMMENT COLUMN IF EXISTS competitor_id 'competitor on whose domain it is, nil: no competitor''s',
    COMMENT COLUMN IF EXISTS sign '1: the row counts, -1: an earlier one is taken back',
    MODIFY COMMENT 'One row per answer and URL that it cites, and per correction. What counts are the URLs of an answer whose signs sum to 1. citation_daily is faster.';

ALTER TABLE citations
    COMMENT COLUMN IF EXISTS organization_id 'organization that the brand belongs to',
    COMMENT COLUMN IF EXISTS brand_id 'brand that the answers are read for',
    COMMENT COLUMN IF EXISTS day 'UTC day of the answers',
    COMMENT COLUMN IF EXISTS platform 'slug of the AI platform that answered',
    COMMENT COLUMN IF EXISTS model 'requested model, empty: none was named',
    COMMENT COLUMN IF EXISTS region 'region that was asked for, empty: none',
    COMMENT COLUMN IF EXISTS topic_id 'topic of the prompt when it was asked, nil: none',
    COMMENT COLUMN IF EXISTS branded 'the prompt names the brand',
    COMMENT COLUMN IF EXISTS prompt_id 'prompt that was asked',
    COMMENT COLUMN IF EXISTS answer_id 'id of the answer',
    COMMENT COLUMN IF EXISTS url 'cited URL, normalised',
    COMMENT COLUMN IF EXISTS domain 'registrable domain of the host',
    COMMENT COLUMN IF EXISTS title 'as the answer tells it, empty: it tells none',
    COMMENT COLUMN IF EXISTS listed_type 'forum, social, review, institutional or editorial, without regard to who owns the domain',
    COMMENT COLUMN IF EXISTS owned 'it is on a domain of the brand',
    COMMENT COLUMN IF EXISTS competitor_id 'competitor on whose domain it is, nil: no competitor''s',
    COMMENT COLUMN IF EXISTS sign '1: the row counts, -1: an earlier one is taken back',
    MODIFY COMMENT 'One row per answer and URL that it cites, and per correction. What counts are the URLs of an answer whose signs sum to 1. citation_daily is faster.';

ALTER TABLE shopping_cards_local
    COMMENT COLUMN IF EXISTS organization_id 'organization that the brand belongs to',
    COMMENT COLUMN IF EXISTS brand_id 'brand that the answers are read for',
    COMMENT COLUMN IF EXISTS day 'UTC day of the answers',
    COMMENT COLUMN IF EXISTS platform 'slug of the AI platform that answered',
    COMMENT COLUMN IF EXISTS model 'requested model, empty: none was named',
    COMMENT COLUMN IF EXISTS region 'region that was asked for, empty: none',
    COMMENT COLUMN IF EXISTS topic_id 'topic of the prompt when it was asked, nil: none',
    COMMENT COLUMN IF EXISTS branded 'the prompt names the brand',
    COMMENT COLUMN IF EXISTS answered_at 'when the answer came, UTC',
    COMMENT COLUMN IF EXISTS answer_id 'id of the answer',
    COMMENT COLUMN IF EXISTS id 'of the card, from the id of the answer and the place in it',
    COMMENT COLUMN IF EXISTS position '1-based place in the answer',
    COMMENT COLUMN IF EXISTS title 'title of the product',
    COMMENT COLUMN IF EXISTS product_brand 'brand of the product as told, empty: not told',
    COMMENT COLUMN IF EXISTS price_amount 'price in price_currency, NULL: not told',
    COMMENT COLUMN IF EXISTS price_currency 'ISO 4217, empty: not told',
    COMMENT COLUMN IF EXISTS image_url 'empty: not told',
    COMMENT COLUMN IF EXISTS merchant_url 'where it is sold, empty: not told',
    COMMENT COLUMN IF EXISTS merchant_domain 'registrable domain of merchant_url',
    COMMENT COLUMN IF EXISTS rating 'as told, NULL: not told',
    COMMENT COLUMN IF EXISTS review_count 'as told, NULL: not told',
    COMMENT COLUMN IF EXISTS matched_id 'brand or competitor whose product it is, nil: neither',
    COMMENT COLUMN IF EXISTS role 'own, competitor or other',
    COMMENT COLUMN IF EXISTS sign '1: the row counts, -1: an earlier one is taken back',
    MODIFY COMMENT 'One row per shopping card, and per correction. Those whose signs sum to 1 count.';

ALTER TABLE shopping_cards
    COMMENT COLUMN IF EXISTS organization_id 'organization that the brand belongs to',
    COMMENT COLUMN IF EXISTS brand_id 'brand that the answers are read for',
    COMMENT COLUMN IF EXISTS day 'UTC day of the answers',
    COMMENT COLUMN IF EXISTS platform 'slug of the AI platform that answered',
    COMMENT COLUMN IF EXISTS model 'requested model, empty: none was named',
    COMMENT COLUMN IF EXISTS region 'region that was asked for, empty: none',
    COMMENT COLUMN IF EXISTS topic_id 'topic of the prompt when it was asked, nil: none',
    COMMENT COLUMN IF EXISTS branded 'the prompt names the brand',
    COMMENT COLUMN IF EXISTS answered_at 'when the answer came, UTC',
    COMMENT COLUMN IF EXISTS answer_id 'id of the answer',
    COMMENT COLUMN IF EXISTS id 'of the card, from the id of the answer and the place in it',
    COMMENT COLUMN IF EXISTS position '1-based place in the answer',
    COMMENT COLUMN IF EXISTS title 'title of the product',
    COMMENT COLUMN IF EXISTS product_brand 'brand of the product as told, empty: not told',
    COMMENT COLUMN IF EXISTS price_amount 'price in price_currency, NULL: not told',
    COMMENT COLUMN IF EXISTS price_currency 'ISO 4217, empty: not told',
    COMMENT COLUMN IF EXISTS image_url 'empty: not told',
    COMMENT COLUMN IF EXISTS merchant_url 'where it is sold, empty: not told',
    COMMENT COLUMN IF EXISTS merchant_domain 'registrable domain of merchant_url',
    COMMENT COLUMN IF EXISTS rating 'as told, NULL: not told',
    COMMENT COLUMN IF EXISTS review_count 'as told, NULL: not told',
    COMMENT COLUMN IF EXISTS matched_id 'brand or competitor whose product it is, nil: neither',
    COMMENT COLUMN IF EXISTS role 'own, competitor or other',
    COMMENT COLUMN IF EXISTS sign '1: the row counts, -1: an earlier one is taken back',
    MODIFY COMMENT 'One row per shopping card, and per correction. Those whose signs sum to 1 count.';

ALTER TABLE dimension_brands
    COMMENT COLUMN IF EXISTS organization_id 'organization that the brand belongs to',
    COMMENT COLUMN IF EXISTS id 'brand_id of the other tables',
    COMMENT COLUMN IF EXISTS name 'how the brand is called',
    COMMENT COLUMN IF EXISTS slug 'short name in addresses',
    COMMENT COLUMN IF EXISTS aliases 'other names that mention it',
    COMMENT COLUMN IF EXISTS domains 'hosts whose pages are its own, with all hosts under them',
    COMMENT COLUMN IF EXISTS industry 'as typed in, empty: not said',
    COMMENT COLUMN IF EXISTS region 'where it is at home, empty: not said',
    COMMENT COLUMN IF EXISTS language 'empty: not said',
    COMMENT COLUMN IF EXISTS revision 'rises with every edit of names, aliases, domains and competitors',
    COMMENT COLUMN IF EXISTS is_active 'its prompts are asked',
    COMMENT COLUMN IF EXISTS version 'the row of an id with the largest one is how it is now',
    COMMENT COLUMN IF EXISTS deleted 'it is no more',
    MODIFY COMMENT 'Brands as they are now. Of each id the newest version counts: read it with FINAL, and leave out what is deleted.';

ALTER TABLE dimension_competitors
    COMMENT COLUMN IF EXISTS organization_id 'organization that the brand belongs to',
    COMMENT COLUMN IF EXISTS brand_id 'brand whose competitor it is',
    COMMENT COLUMN IF EXISTS id 'competitor_id of the other tables',
    COMMENT COLUMN IF EXISTS name 'how it is called',
    COMMENT COLUMN IF EXISTS aliases 'other names that mention it',
    COMMENT COLUMN IF EXISTS domains 'hosts whose pages are its own, with all hosts under them',
    COMMENT COLUMN IF EXISTS version 'the row of an id with the largest one is how it is now',
    COMMENT COLUMN IF EXISTS deleted 'it is no more',
    MODIFY COMMENT 'Competitors of a brand as they are now. Of each id the newest version counts: read it with FINAL, and leave out what is deleted.';

ALTER TABLE dimension_prompts
    COMMENT COLUMN IF EXISTS organization_id 'organization that the brand belongs to',
    COMMENT COLUMN IF EXISTS brand_id 'brand that it is asked for',
    COMMENT COLUMN IF EXISTS id 'prompt_id of the other tables',
    COMMENT COLUMN IF EXISTS topic_id 'topic that it is in now, nil: none',
    COMMENT COLUMN IF EXISTS text 'what is asked',
    COMMENT COLUMN IF EXISTS is_branded 'it names the brand, NULL: its text tells',
    COMMENT COLUMN IF EXISTS is_active 'it is asked',
    COMMENT COLUMN IF EXISTS version 'the row of an id with the largest one is how it is now',
    COMMENT COLUMN IF EXISTS deleted 'it is no more',
    MODIFY COMMENT 'Prompts of a brand as they are now. A deleted one keeps its last text. Of each id the newest version counts: read it with FINAL, and leave out what is deleted.';

ALTER TABLE dimension_topics
    COMMENT COLUMN IF EXISTS organization_id 'organization that the brand belongs to',
    COMMENT COLUMN IF EXISTS brand_id 'brand whose topic it is',
    COMMENT COLUMN IF EXISTS id 'topic_id of the other tables',
    COMMENT COLUMN IF EXISTS name 'how it is called',
    COMMENT COLUMN IF EXISTS is_active 'its prompts are asked',
    COMMENT COLUMN IF EXISTS version 'the row of an id with the largest one is how it is now',
    COMMENT COLUMN IF EXISTS deleted 'it is no more',
    MODIFY COMMENT 'Topics of prompts as they are now. Of each id the newest version counts: read it with FINAL, and leave out what is deleted.';

-- 0014_entity_prompt_daily.up.sql
CREATE TABLE IF NOT EXISTS entity_prompt_daily_local
(
    organization_id     UUID COMMENT 'organization that the brand belongs to',
    brand_id            UUID COMMENT 'brand that the answers are read for',
    day                 Date COMMENT 'UTC day of the answers',
    platform            LowCardinality(String) COMMENT 'slug of the AI platform that answered',
    model               LowCardinality(String) COMMENT 'requested model, empty: none was named',
    region              LowCardinality(String) COMMENT 'region that was asked for, empty: none',
    topic_id            UUID COMMENT 'topic of the prompt when it was asked, nil: none',
    branded             Bool COMMENT 'the prompt names the brand',
    prompt_id           UUID COMMENT 'prompt that was asked',
    entity_id           UUID COMMENT 'whose sums these are: the brand itself (its brand_id), or a competitor, deleted ones too',
    runs                Int64 COMMENT 'answers and given-up runs, 0 on rows of competitors',
    given_up            Int64 COMMENT 'runs that ended without an answer, 0 on rows of competitors',
    answers             Int64 COMMENT 'answers, by which rates and averages of everybody are divided, 0 on rows of competitors',
    mention_answers     Int64 COMMENT 'answers that name the entity',
    citation_answers    Int64 COMMENT 'answers that cite a page of the entity',
    visible_answers     Int64 COMMENT 'answers that name the entity or cite a page of it',
    inverse_position    Int64 COMMENT 'sum of 1/position over the answers that name the entity, in 1/5354228880ths',
    mentions            Int64 COMMENT 'occurrences of names of the entity',
    citations           Int64 COMMENT 'citations of pages on domains of the entity',
    visibility          Int64 COMMENT 'sum of visibility_score over all answers, each 0 to 100',
    visibility_named    Int64 COMMENT 'sum of visibility_score over the answers that name the entity, each 0 to 100'
)
ENGINE = ReplicatedSummingMergeTree('/clickhouse/answerscope/{database}/{shard}/entity_prompt_daily', '{replica}')
PARTITION BY toYYYYMM(day)
ORDER BY (organization_id, brand_id, day, platform, model, region, topic_id, branded, prompt_id, entity_id)
SETTINGS replicated_deduplication_window = 50000, replicated_deduplication_window_seconds = 604800, fsync_after_insert = 1, fsync_part_directory = 1, index_granularity = 1024
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
    sum(sign * (own AND told.given_up))                                                     AS given_up,
    sum(sign * (own AND NOT told.given_up))                                                 AS answers,
    sum(sign * (named > 0))                                                                 AS mention_answers,
    sum(sign * (cited > 0))                                                                 AS citation_answers,
    sum(sign * (named > 0 OR cited > 0))                                                    AS visible_answers,
    sum(sign * if(place = 0, 0, toInt64(round(5354228880 / place))))                        AS inverse_position,
    sum(sign * named)                                                                       AS mentions,
    sum(sign * cited)                                                                       AS citations,
    sum(sign * score)                                                                       AS visibility,
    sum(sign * if(named > 0, score, 0))                                                     AS visibility_named
FROM answers_local AS told
ARRAY JOIN
    arrayPushFront(told.competitors.id, brand_id)                                           AS entity_id,
    arrayPushFront(told.competitors.mention_count, told.mention_count)                      AS named,
    arrayPushFront(told.competitors.position, told.position)                                AS place,
    arrayPushFront(told.competitors.citation_count, told.citation_count)                    AS cited,
    arrayPushFront(told.competitors.visibility_score, toUInt16(told.visibility_score))      AS score,
    arrayMap(n -> n = 1, arrayEnumerate(arrayPushFront(told.competitors.id, brand_id)))     AS own
WHERE NOT endsWith(platform, '-shopping')
  AND (own OR named > 0 OR cited > 0)
GROUP BY organization_id, brand_id, day, platform, model, region, topic_id, branded, prompt_id, entity_id;

TRUNCATE TABLE entity_prompt_daily_local;

INSERT INTO entity_prompt_daily_local
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
    sign * own                                                                              AS runs,
    sign * (own AND told.given_up)                                                          AS given_up,
    sign * (own AND NOT told.given_up)                                                      AS answers,
    sign * (named > 0)                                                                      AS mention_answers,
    sign * (cited > 0)                                                                      AS citation_answers,
    sign * (named > 0 OR cited > 0)                                                         AS visible_answers,
    sign * if(place = 0, 0, toInt64(round(5354228880 / place)))                             AS inverse_position,
    sign * named                                                                            AS mentions,
    sign * cited                                                                            AS citations,
    sign * score                                                                            AS visibility,
    sign * if(named > 0, score, 0)                                                          AS visibility_named
FROM answers_local AS told
ARRAY JOIN
    arrayPushFront(told.competitors.id, brand_id)                                           AS entity_id,
    arrayPushFront(told.competitors.mention_count, told.mention_count)                      AS named,
    arrayPushFront(told.competitors.position, told.position)                                AS place,
    arrayPushFront(told.competitors.citation_count, told.citation_count)                    AS cited,
    arrayPushFront(told.competitors.visibility_score, toUInt16(told.visibility_score))      AS score,
    arrayMap(n -> n = 1, arrayEnumerate(arrayPushFront(told.competitors.id, brand_id)))     AS own
WHERE NOT endsWith(platform, '-shopping')
  AND (own OR named > 0 OR cited > 0)
  AND NOT arrayExists(
        batch -> batch.1 = log_topic AND batch.2 = log_partition AND batch.3 <= log_offset,
        (SELECT groupArray((log_topic, log_partition, first_offset)) FROM open_batches))
SETTINGS max_partitions_per_insert_block = 0, insert_deduplicate = 0;

DROP VIEW IF EXISTS prompt_daily_view;

DROP VIEW IF EXISTS competitor_prompt_daily_view;

DROP TABLE IF EXISTS prompt_daily;

DROP TABLE IF EXISTS prompt_daily_local SYNC;

DROP TABLE IF EXISTS competitor_prompt_daily;

DROP TABLE IF EXISTS competitor_prompt_daily_local SYNC;

-- 0015_deadletters.up.sql
DROP VIEW IF EXISTS log_progress_deadletters_view;

ALTER TABLE deadletters_local
    ADD COLUMN IF NOT EXISTS headers Nested(key String, value String);

ALTER TABLE deadletters
    ADD COLUMN IF NOT EXISTS headers Nested(key String, value String);

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

ALTER TABLE deadletters_local
    COMMENT COLUMN IF EXISTS log_topic 'topic of the record, with its prefix',
    COMMENT COLUMN IF EXISTS log_partition 'partition of the record',
    COMMENT COLUMN IF EXISTS log_offset 'offset of the record in its partition',
    COMMENT COLUMN IF EXISTS key 'of the record, as it came, empty: none',
    COMMENT COLUMN IF EXISTS value 'of the record, as it came',
    COMMENT COLUMN IF EXISTS reason 'why it is not in the landing table: malformed or month frozen',
    COMMENT COLUMN IF EXISTS detail 'the reason in full',
    COMMENT COLUMN IF EXISTS headers.key 'keys of its headers, as they came',
    COMMENT COLUMN IF EXISTS headers.value 'values of its headers, as they came',
    MODIFY COMMENT 'Records that were read from the log and are in no landing table, byte for byte.';

ALTER TABLE deadletters
    COMMENT COLUMN IF EXISTS log_topic 'topic of the record, with its prefix',
    COMMENT COLUMN IF EXISTS log_partition 'partition of the record',
    COMMENT COLUMN IF EXISTS log_offset 'offset of the record in its partition',
    COMMENT COLUMN IF EXISTS key 'of the record, as it came, empty: none',
    COMMENT COLUMN IF EXISTS value 'of the record, as it came',
    COMMENT COLUMN IF EXISTS reason 'why it is not in the landing table: malformed or month frozen',
    COMMENT COLUMN IF EXISTS detail 'the reason in full',
    COMMENT COLUMN IF EXISTS headers.key 'keys of its headers, as they came',
    COMMENT COLUMN IF EXISTS headers.value 'values of its headers, as they came',
    MODIFY COMMENT 'Records that were read from the log and are in no landing table, byte for byte.';

-- 0016_retention.up.sql
ALTER TABLE answers_local MODIFY SETTING remove_empty_parts = 0;

ALTER TABLE answers_local MODIFY SETTING ttl_only_drop_parts = 1;

ALTER TABLE answers_local MODIFY SETTING materialize_ttl_recalculate_only = 1;

ALTER TABLE visits_local MODIFY SETTING remove_empty_parts = 0;

ALTER TABLE visits_local MODIFY SETTING ttl_only_drop_parts = 1;

ALTER TABLE visits_local MODIFY SETTING materialize_ttl_recalculate_only = 1;

ALTER TABLE deadletters_local MODIFY SETTING remove_empty_parts = 0;

ALTER TABLE deadletters_local MODIFY SETTING ttl_only_drop_parts = 1;

ALTER TABLE deadletters_local MODIFY SETTING materialize_ttl_recalculate_only = 1;

ALTER TABLE answer_daily_local MODIFY SETTING remove_empty_parts = 0;

ALTER TABLE entity_prompt_daily_local MODIFY SETTING remove_empty_parts = 0;

ALTER TABLE citation_daily_local MODIFY SETTING remove_empty_parts = 0;

ALTER TABLE citations_local MODIFY SETTING remove_empty_parts = 0;

ALTER TABLE shopping_cards_local MODIFY SETTING remove_empty_parts = 0;

ALTER TABLE visit_daily_local MODIFY SETTING remove_empty_parts = 0;

ALTER TABLE log_progress_local MODIFY SETTING remove_empty_parts = 0;

-- 0018_compact_rollups.up.sql
ALTER TABLE entity_prompt_daily_local MODIFY SETTING min_bytes_for_wide_part = 1073741824;

ALTER TABLE answer_daily_local MODIFY SETTING min_bytes_for_wide_part = 1073741824;

-- 0019_readings.up.sql
ALTER TABLE answers_local
    MODIFY SETTING lightweight_mutation_projection_mode = 'rebuild';

ALTER TABLE answers_local
    ADD PROJECTION IF NOT EXISTS readings
    (
        SELECT
            organization_id,
            brand_id,
            day,
            revision,
            extract_version,
            sum(sign)
        GROUP BY organization_id, brand_id, day, revision, extract_version
    );

ALTER TABLE answers_local MATERIALIZE PROJECTION readings;

-- 0020_crawls.up.sql
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
COMMENT 'Requests of AI crawlers, one row each, as access logs tell them. For figures crawl_daily is faster.';

CREATE TABLE IF NOT EXISTS crawls AS crawls_local
ENGINE = Distributed('answerscope', currentDatabase(), 'crawls_local')
COMMENT 'Requests of AI crawlers, one row each, as access logs tell them. For figures crawl_daily is faster.';

CREATE MATERIALIZED VIEW IF NOT EXISTS log_progress_crawls_view TO log_progress_local AS
SELECT
    log_topic,
    log_partition,
    max(log_offset) AS last_offset
FROM crawls_local
GROUP BY log_topic, log_partition;

-- 0021_crawl_daily.up.sql
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
    toInt64(countIf(ifNull(told.verified, false)))     AS verified,
    toInt64(countIf(NOT ifNull(told.verified, true)))  AS unverified,
    sum(told.bytes)                                    AS bytes
FROM crawls_local AS told
GROUP BY organization_id, brand_id, day, crawler, operator, platform, purpose, host, path, status;

