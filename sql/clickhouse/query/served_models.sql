-- served_models: the answers that name the model that served them, by platform, requested model, served model and day.
SELECT
    lower(platform)           AS platform,
    lower(model)              AS model,
    served_model,
    toUInt16(answer_daily.day) AS day,
    sum(answer_daily.answers) AS answers
FROM answer_daily
WHERE organization_id = {organization_id:UUID}
  AND brand_id = {brand_id:UUID}
  AND answer_daily.day BETWEEN {date_from:Date} AND {date_to:Date}
  AND answerscope_matches_code({platforms:Array(String)}, platform)
  AND answerscope_matches_code({models:Array(String)}, model)
  AND answerscope_matches_code({regions:Array(String)}, region)
  AND answerscope_matches({topics:Array(UUID)}, answerscope_given(topic_id))
  AND answerscope_matches({branded:Array(Bool)}, branded)
  AND served_model != ''
GROUP BY platform, model, served_model, day
HAVING answers > 0
ORDER BY platform, model, served_model, day
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0
