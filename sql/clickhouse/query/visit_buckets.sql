-- visit_buckets: visits, sessions and goals that a platform sent to a brand's site, one row per bucket and platform that have any.
-- currencies and amounts have the sums of the goals' values that are not 0, by currency ('': none) in code-point order.
WITH sumMapIf([toString(currency)], [visit_daily.value], event = 'goal') AS sums
SELECT
    answerscope_bucket({granularity:String}, day, {date_from:Date}) AS bucket,
    platform,
    sumIf(visit_daily.visits, event = 'view')                       AS visits,
    sumIf(visit_daily.sessions, event = 'view')                     AS sessions,
    sumIf(visit_daily.visits, event = 'goal')                       AS goals,
    sums.1                                                          AS currencies,
    sums.2                                                          AS amounts
FROM visit_daily
WHERE organization_id = {organization_id:UUID}
  AND brand_id = {brand_id:UUID}
  AND day BETWEEN {date_from:Date} AND {date_to:Date}
  AND answerscope_matches_code({platforms:Array(String)}, visit_daily.platform)
GROUP BY bucket, platform
HAVING visits + goals > 0
ORDER BY bucket, platform
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0
