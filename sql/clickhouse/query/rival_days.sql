-- rival_days: points by day of each live competitor of a brand, one row per entity, prompt, platform, requested model, region and topic when it was asked.
-- Their answers are the brand's: cell_days has them, and says what the lists are.
SELECT
    entity_id,
    prompt_id,
    ifNull(toString(answerscope_given(topic_id)), '') AS topic_id,
    lower(platform)                                   AS platform,
    lower(model)                                      AS model,
    lower(region)                                     AS region,
    toString(groupArray(toUInt16(day)))               AS days,
    toString(groupArray(toFloat64(multiIf(
        {metric:String} = 'mention_rate', 100 * mention_answers,
        {metric:String} = 'citation_rate', 100 * citation_answers,
        answerscope_points(mention_answers, citation_answers, inverse_position))))) AS points
FROM entity_prompt_daily
WHERE organization_id = {organization_id:UUID}
  AND brand_id = {brand_id:UUID}
  AND day BETWEEN {date_from:Date} AND {date_to:Date}
  AND answerscope_matches_code({platforms:Array(String)}, entity_prompt_daily.platform)
  AND answerscope_matches_code({models:Array(String)}, entity_prompt_daily.model)
  AND answerscope_matches_code({regions:Array(String)}, entity_prompt_daily.region)
  AND answerscope_matches({topics:Array(UUID)}, answerscope_given(entity_prompt_daily.topic_id))
  AND answerscope_matches({branded:Array(Bool)}, branded)
  AND entity_id IN
  (
      SELECT id
      FROM dimension_competitors FINAL
      WHERE organization_id = {organization_id:UUID}
        AND brand_id = {brand_id:UUID}
        AND NOT deleted
  )
GROUP BY entity_id, prompt_id, entity_prompt_daily.topic_id, entity_prompt_daily.platform, entity_prompt_daily.model, entity_prompt_daily.region
ORDER BY entity_id, prompt_id, entity_prompt_daily.topic_id, entity_prompt_daily.platform, entity_prompt_daily.model, entity_prompt_daily.region
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0
