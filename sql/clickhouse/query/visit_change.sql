-- visit_change: visits, sessions and goals of a brand's site in the days before a window, from before_from on, and the differences of the
-- window's to them. They are counts, not samples, so no interval and no verdict belongs to them.
SELECT
    sumIf(visit_daily.visits, event = 'view' AND day < {date_from:Date})  AS visits_before,
    sumIf(visit_daily.sessions, event = 'view' AND day < {date_from:Date}) AS sessions_before,
    sumIf(visit_daily.visits, event = 'goal' AND day < {date_from:Date})  AS goals_before,
    sumIf(visit_daily.visits, event = 'view') - 2 * visits_before         AS visits_difference,
    sumIf(visit_daily.sessions, event = 'view') - 2 * sessions_before     AS sessions_difference,
    sumIf(visit_daily.visits, event = 'goal') - 2 * goals_before          AS goals_difference
FROM visit_daily
WHERE organization_id = {organization_id:UUID}
  AND brand_id = {brand_id:UUID}
  AND day BETWEEN {before_from:Date} AND {date_to:Date}
  AND answerscope_matches_code({platforms:Array(String)}, platform)
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0
