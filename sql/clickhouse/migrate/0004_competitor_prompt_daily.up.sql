-- The score sums of each competitor by prompt, from the answers that name or
-- cite it. How many answers there were in all is in answer_daily.
CREATE TABLE IF NOT EXISTS competitor_prompt_daily
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
ENGINE = SummingMergeTree
PARTITION BY toYYYYMM(day)
ORDER BY (organization_id, brand_id, day, platform, model, region, topic_id, branded, prompt_id, competitor_id)
SETTINGS non_replicated_deduplication_window = 50000, fsync_after_insert = 1, fsync_part_directory = 1;

CREATE MATERIALIZED VIEW IF NOT EXISTS competitor_prompt_daily_view TO competitor_prompt_daily AS
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
FROM answers
ARRAY JOIN competitors AS c
WHERE NOT endsWith(platform, '-shopping')
  AND (c.mention_count > 0 OR c.citation_count > 0)
GROUP BY organization_id, brand_id, day, platform, model, region, topic_id, branded, prompt_id, competitor_id;
