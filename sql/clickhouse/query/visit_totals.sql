-- visit_totals: visits, sessions and goals that all platforms sent to a brand's site, one row per bucket of the window.
-- Buckets without any have zeros. currencies and amounts are those of visit_buckets.
WITH sumMapIf([toString(currency)], [counts.value], event = 'goal') AS sums
SELECT
    answerscope_bucket({granularity:String}, day, {date_from:Date}) AS bucket,
    sumIf(counts.visits, event = 'view')                            AS visits,
    sumIf(counts.sessions, event = 'view')                          AS sessions,
    sumIf(counts.visits, event = 'goal')                            AS goals,
    sums.1                                                          AS currencies,
    sums.2                                                          AS amounts
FROM (SELECT {date_from:Date} + number AS day FROM numbers(toUInt64({date_to:Date} - {date_from:Date} + 1))) AS days
LEFT JOIN
(
    SELECT day, event, currency, visits, sessions, value
    FROM visit_daily
    WHERE organization_id = {organization_id:UUID}
      AND brand_id = {brand_id:UUID}
      AND day BETWEEN {date_from:Date} AND {date_to:Date}
      AND answerscope_matches_code({platforms:Array(String)}, platform)
) AS counts USING (day)
GROUP BY bucket
ORDER BY bucket
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0
