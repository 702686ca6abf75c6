-- model_changes: the buckets in which a platform answers a requested model with other served models, or through other providers, than before,
-- by group. before is from the last earlier bucket of the group in which one is known; the first such bucket is no change.
-- A surface that had no answer names no model, so its provider counts only where that has no answer in the bucket.
WITH
    served AS
    (
        SELECT
            answerscope_group({group_by:String}, platform, model, region, topic_id) AS group_key,
            answerscope_bucket({granularity:String}, day, {date_from:Date}) AS bucket,
            lower(platform) AS platform,
            lower(model) AS model,
            answerscope_served(served_model, provider) AS answered_by,
            sum(answers) AS answered,
            sum(answered) OVER (PARTITION BY group_key, bucket, platform, model, provider) AS answered_by_provider
        FROM answer_daily
        WHERE organization_id = {organization_id:UUID}
          AND brand_id = {brand_id:UUID}
          AND day BETWEEN {date_from:Date} AND {date_to:Date}
          AND answerscope_matches_code({platforms:Array(String)}, platform)
          AND answerscope_matches_code({models:Array(String)}, model)
          AND answerscope_matches_code({regions:Array(String)}, region)
          AND answerscope_matches({topics:Array(UUID)}, answerscope_given(topic_id))
          AND answerscope_matches({branded:Array(Bool)}, branded)
        GROUP BY group_key, bucket, platform, model, answered_by, provider
        HAVING sum(runs) > sum(given_up)
    ),
    sets AS
    (
        SELECT
            group_key,
            bucket,
            platform,
            model,
            arraySort(groupArray(answered_by)) AS now,
            lagInFrame(now) OVER (PARTITION BY group_key, platform, model ORDER BY bucket ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS before
        FROM served
        WHERE answered_by != ''
          AND (answered > 0 OR answered_by_provider = 0)
        GROUP BY group_key, bucket, platform, model
    )
SELECT
    group_key,
    bucket,
    platform,
    model,
    before,
    now
FROM sets
WHERE notEmpty(before)
  AND now != before
ORDER BY group_key, bucket, platform, model
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0
