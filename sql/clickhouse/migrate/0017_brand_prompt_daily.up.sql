-- The sums of a brand alone by prompt, for verdicts, which read three windows of it: of 30 brands and 270 days 43 ms of
-- CPU, from entity_prompt_daily, most of whose rows are of competitors, 166 ms.
--
-- The mark lets a database that has answers fill the table from them. Months whose answers have expired have what
-- entity_prompt_daily knows: all but the served models and providers.
CREATE TABLE IF NOT EXISTS brand_prompt_daily
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
ENGINE = SummingMergeTree
PARTITION BY toYYYYMM(day)
ORDER BY (organization_id, brand_id, day, platform, model, region, topic_id, branded, prompt_id, served_model, provider)
SETTINGS non_replicated_deduplication_window = 50000, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 480, index_granularity = 1024, remove_empty_parts = 0, min_bytes_for_wide_part = 1073741824
COMMENT 'The sums of answer_daily by prompt. Always sum: a key may have several rows. [rebuild]';

TRUNCATE TABLE IF EXISTS brand_prompt_daily;

INSERT INTO brand_prompt_daily
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
FROM entity_prompt_daily
WHERE entity_id = brand_id;

CREATE MATERIALIZED VIEW IF NOT EXISTS brand_prompt_daily_view TO brand_prompt_daily AS
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
FROM answers AS landed
WHERE NOT endsWith(platform, '-shopping')
GROUP BY organization_id, brand_id, day, platform, model, region, topic_id, branded, prompt_id, served_model, provider;
