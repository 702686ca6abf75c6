-- brands_visits: views that AI platforms sent to the sites of some brands, from date_from to date_to, and before that from before_from on.
SELECT
    brand_id,
    sumIf(visit_daily.visits, day >= {date_from:Date}) AS visits,
    sumIf(visit_daily.visits, day < {date_from:Date})  AS visits_before
FROM visit_daily
WHERE organization_id = {organization_id:UUID}
  AND brand_id IN {brands:Array(UUID)}
  AND day BETWEEN {before_from:Date} AND {date_to:Date}
  AND answerscope_matches_code({platforms:Array(String)}, platform)
  AND event != 'goal'
GROUP BY brand_id
ORDER BY brand_id
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0
