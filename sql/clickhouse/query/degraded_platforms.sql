-- degraded_platforms: platforms that gave up over a fifth of the filtered runs, so that figures of the window show an outage, too.
SELECT
    platform,
    sum(answer_daily.runs)     AS runs,
    sum(answer_daily.given_up) AS given_up
FROM answer_daily
WHERE organization_id = {organization_id:UUID}
  AND brand_id = {brand_id:UUID}
  AND day BETWEEN {date_from:Date} AND {date_to:Date}
  AND answerscope_matches({models:Array(String)}, model)
  AND answerscope_matches({regions:Array(String)}, region)
  AND answerscope_matches({topics:Array(UUID)}, answerscope_given(topic_id))
  AND answerscope_matches({branded:Array(Bool)}, branded)
GROUP BY platform
HAVING 5 * given_up > runs
ORDER BY platform
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0
