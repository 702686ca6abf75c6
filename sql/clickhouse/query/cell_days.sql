-- cell_days: sums by day of brands, one row per brand, prompt, platform, requested model, region, topic when it was asked and what
-- answered (answerscope_served).
-- runs are all, with those whose surface had no answer. days counts from 1970-01-01, in any order, and may repeat a day: its values in the
-- other lists are to be added. points has the sum over the answers, 0 to 100 each, of metric: score, mention_rate or citation_rate.
-- Lists are text, [1,2]: the driver takes 250 ns for an element of an array.
SELECT
    brand_id,
    prompt_id,
    ifNull(toString(answerscope_given(topic_id)), '') AS topic_id,
    lower(platform)                                   AS platform,
    lower(model)                                      AS model,
    lower(region)                                     AS region,
    answerscope_served(brand_prompt_daily.served_model, provider) AS served_model,
    toString(groupArray(toUInt16(day)))                 AS days,
    toString(groupArray(brand_prompt_daily.runs))     AS runs,
    toString(groupArray(brand_prompt_daily.given_up)) AS given_up,
    toString(groupArray(brand_prompt_daily.answers))  AS answers,
    toString(groupArray(toFloat64(multiIf(
        {metric:String} = 'mention_rate', 100 * mention_answers,
        {metric:String} = 'citation_rate', 100 * citation_answers,
        answerscope_points(mention_answers, citation_answers, inverse_position))))) AS points
FROM brand_prompt_daily
WHERE organization_id = {organization_id:UUID}
  AND brand_id IN {brands:Array(UUID)}
  AND day BETWEEN {date_from:Date} AND {date_to:Date}
  AND answerscope_matches_code({platforms:Array(String)}, brand_prompt_daily.platform)
  AND answerscope_matches_code({models:Array(String)}, brand_prompt_daily.model)
  AND answerscope_matches_code({regions:Array(String)}, brand_prompt_daily.region)
  AND answerscope_matches({topics:Array(UUID)}, answerscope_given(brand_prompt_daily.topic_id))
  AND answerscope_matches({branded:Array(Bool)}, branded)
GROUP BY brand_id, prompt_id, brand_prompt_daily.topic_id, brand_prompt_daily.platform, brand_prompt_daily.model, brand_prompt_daily.region, brand_prompt_daily.served_model, provider
ORDER BY brand_id, prompt_id, brand_prompt_daily.topic_id, brand_prompt_daily.platform, brand_prompt_daily.model, brand_prompt_daily.region, brand_prompt_daily.served_model, provider
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0
