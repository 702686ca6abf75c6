-- degraded_platforms: platforms that gave up over a fifth of the filtered runs of a group and bucket, so their figures show an outage.
SELECT
    answerscope_group({group_by:String}, platform, model, region, topic_id) AS group_key,
    answerscope_bucket({granularity:String}, day, {date_from:Date}) AS bucket,
    lower(platform)            AS platform,
    sum(answer_daily.runs)     AS runs,
    sum(answer_daily.given_up) AS given_up
FROM answer_daily
WHERE organization_id = {organization_id:UUID}
  AND brand_id = {brand_id:UUID}
  AND day BETWEEN {date_from:Date} AND {date_to:Date}
  AND answerscope_matches_code({platforms:Array(String)}, platform)
  AND answerscope_matches_code({models:Array(String)}, model)
  AND answerscope_matches_code({regions:Array(String)}, region)
  AND answerscope_matches({topics:Array(UUID)}, answerscope_given(topic_id))
  AND answerscope_matches({branded:Array(Bool)}, branded)
GROUP BY group_key, bucket, platform
HAVING 5 * given_up > runs
ORDER BY group_key, bucket, platform
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0
