-- The sums of a brand and of each of its competitors by prompt, in one table, because planning a question about two
-- tables costs half as much as the question. The brand has a row for every prompt that was asked, a competitor only
-- where answers mention or cite it. index_granularity is small because a brand has only a few hundred to a few thousand
-- rows a month.
CREATE TABLE IF NOT EXISTS entity_prompt_daily
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
ENGINE = SummingMergeTree
PARTITION BY toYYYYMM(day)
ORDER BY (organization_id, brand_id, day, platform, model, region, topic_id, branded, prompt_id, entity_id)
SETTINGS non_replicated_deduplication_window = 50000, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 480, index_granularity = 1024, remove_empty_parts = 0, min_bytes_for_wide_part = 1073741824
COMMENT 'The sums of answer_daily by prompt, of brand and competitors. Always sum: a key may have several rows.';

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
FROM answers AS landed
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
