-- ai_traffic: visits and sessions that AI platforms sent to a brand's site, in all and by platform, page and country, and goals.
-- facet is total, platform, page (a path, the top 10), country, landing (the path that sessions began on, the top 10) or goal (a row for
-- each of its currencies, the top 100); of_facet is its number of rows without these limits. Rows of a facet are sorted by visits
-- (landing: sessions) descending, then by name and currency.
SELECT
    -- grouping has a 1 for each key that is not in a row's set; such a key is '' in name. goal, '' for a view, marks the second set of paths.
    transform(
        grouping(platform, page, country, goal),
        [0b0111, 0b1010, 0b1011, 0b1101, 0b1110],
        ['platform', 'landing', 'page', 'country', 'goal'],
        'total')                                AS facet,
    concat(platform, page, country, goal)       AS name,
    currency,
    sum(visited.visits)                         AS visits,
    sum(visited.sessions)                       AS sessions,
    sum(visited.value)                          AS value,
    count() OVER (PARTITION BY facet)           AS of_facet
FROM
(
    SELECT
        platform,
        answerscope_path(path) AS page,
        country,
        event,
        goal,
        currency,
        visit_daily.visits     AS visits,
        visit_daily.sessions   AS sessions,
        visit_daily.value      AS value
    FROM visit_daily
    WHERE organization_id = {organization_id:UUID}
      AND brand_id = {brand_id:UUID}
      AND day BETWEEN {date_from:Date} AND {date_to:Date}
      AND answerscope_matches_code({platforms:Array(String)}, platform)
) AS visited
GROUP BY GROUPING SETS ((platform, event), (page, goal, event), (page, event), (country, event), (goal, currency, event), (event))
HAVING (facet = 'goal') = (event = 'goal') AND if(facet = 'landing', sessions, visits) > 0
-- A page's visitor chooses the names of goals and paths, and may send any.
QUALIFY row_number() OVER (PARTITION BY facet ORDER BY if(facet = 'landing', sessions, visits) DESC, name, currency) <= transform(facet, ['page', 'landing', 'goal'], [10, 10, 100], 1000)
ORDER BY facet, if(facet = 'landing', sessions, visits) DESC, name, currency
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0
