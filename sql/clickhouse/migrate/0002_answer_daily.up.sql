-- Runs, answers and score sums of a brand by day and every filter column.
-- inverse_position is the sum of 1/position in units of 1/5354228880, the least
-- common multiple of 1 to 24: whole numbers add up alike in any order, so that
-- a correction cancels to exactly zero. Shopping answers feed only the cards.
CREATE TABLE IF NOT EXISTS answer_daily
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
ENGINE = SummingMergeTree
PARTITION BY toYYYYMM(day)
ORDER BY (organization_id, brand_id, day, platform, model, region, topic_id, branded, served_model)
SETTINGS non_replicated_deduplication_window = 50000, fsync_after_insert = 1, fsync_part_directory = 1;

CREATE MATERIALIZED VIEW IF NOT EXISTS answer_daily_view TO answer_daily AS
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
FROM answers AS told
WHERE NOT endsWith(platform, '-shopping')
GROUP BY organization_id, brand_id, day, platform, model, region, topic_id, branded, served_model;
