-- The sums of a brand and of each of its competitors by prompt, in one table: to plan a question about two tables cost
-- half of what the question cost. The brand has a row for every prompt that was asked, a competitor only where answers
-- name or cite it. A brand has a few hundred to a few thousand rows a month: with marks of 8192 rows most of what was
-- read was others'.
CREATE TABLE IF NOT EXISTS entity_prompt_daily
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
ENGINE = SummingMergeTree
PARTITION BY toYYYYMM(day)
ORDER BY (organization_id, brand_id, day, platform, model, region, topic_id, branded, prompt_id, entity_id)
SETTINGS non_replicated_deduplication_window = 50000, fsync_after_insert = 1, fsync_part_directory = 1, index_granularity = 1024, remove_empty_parts = 0, min_bytes_for_wide_part = 1073741824
COMMENT 'The sums of answer_daily by prompt, of the brand and of each competitor. Rows of one key may be several until they merge: sum them.';

CREATE MATERIALIZED VIEW IF NOT EXISTS entity_prompt_daily_view TO entity_prompt_daily AS
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
FROM answers AS landed
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
