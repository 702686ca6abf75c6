-- Runs, answers and score sums of a brand by day and every filter column, without shopping platforms.
--
-- inverse_position is the sum of 1/position in units of 1/5354228880, the least common multiple of 1 to 24: whole
-- numbers have the same sum in any order, so a correction cancels to exactly zero.
--
-- A question about one brand reads a few granules of every column. With one file for all columns of a part
-- (min_bytes_for_wide_part) it opens one file per month instead of one per column: 14.2 against 17.4 ms of CPU for the
-- brand's figures (10.8 M rows, a year in twelve parts, 90 days asked).
CREATE TABLE IF NOT EXISTS answer_daily
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
ENGINE = SummingMergeTree
PARTITION BY toYYYYMM(day)
ORDER BY (organization_id, brand_id, day, platform, model, region, topic_id, branded, served_model, provider)
SETTINGS non_replicated_deduplication_window = 50000, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, old_parts_lifetime = 480, remove_empty_parts = 0, min_bytes_for_wide_part = 1073741824
COMMENT 'Sums of the answers of a brand by day and every filter, without shopping platforms. Always sum: a key may have several rows.';

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
FROM answers AS landed
WHERE NOT endsWith(platform, '-shopping')
GROUP BY organization_id, brand_id, day, platform, model, region, topic_id, branded, served_model, provider;
