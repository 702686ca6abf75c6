-- share_of_voice: the brand's share of all mentions of it and its live competitors, by group, bucket, platform and requested model.
-- The row with all_platforms is the sum of its group and bucket. Each platform and model with answers has a row; sov_pct is NULL without mentions.
WITH
    (
        SELECT groupArray(id)
        FROM dimension_competitors FINAL
        WHERE organization_id = {organization_id:UUID}
          AND brand_id = {brand_id:UUID}
          AND NOT deleted
    ) AS live
SELECT
    answerscope_group({group_by:String}, platform, model, region, topic_id) AS group_key,
    answerscope_bucket({granularity:String}, day, {date_from:Date}) AS bucket,
    CAST(grouping(platform) AS Bool)               AS all_platforms,
    lower(platform)                                AS platform,
    lower(model)                                   AS model,
    sum(entity_prompt_daily.answers)               AS answers,
    sumIf(mentions, entity_id = {brand_id:UUID})   AS brand_mentions,
    sumIf(mentions, entity_id != {brand_id:UUID})  AS competitor_mentions,
    answerscope_round(answerscope_ratio(100 * brand_mentions, brand_mentions + competitor_mentions), 1) AS sov_pct
FROM entity_prompt_daily
WHERE organization_id = {organization_id:UUID}
  AND brand_id = {brand_id:UUID}
  AND day BETWEEN {date_from:Date} AND {date_to:Date}
  AND answerscope_matches_code({platforms:Array(String)}, platform)
  AND answerscope_matches_code({models:Array(String)}, model)
  AND answerscope_matches_code({regions:Array(String)}, region)
  AND answerscope_matches({topics:Array(UUID)}, answerscope_given(topic_id))
  AND answerscope_matches({branded:Array(Bool)}, branded)
  AND answerscope_matches({prompts:Array(UUID)}, prompt_id)
  AND (entity_id = {brand_id:UUID} OR has(live, entity_id))
GROUP BY GROUPING SETS ((group_key, bucket), (group_key, bucket, platform, model))
HAVING answers > 0
ORDER BY group_key, bucket, all_platforms DESC, platform, model
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0
