-- ai_traffic: views that AI platforms sent to a brand's site, in all and by platform, page and country.
-- Serves GET /api/v1/ai-traffic. facet says what a row counts: total, platform, page (a path, the top 10) or country.
-- name is the platform, path or country; '' is the total's, and an unknown country's. Goals are no visits.
-- Rows of a facet come by visits descending, then by name.
SELECT
    multiIf(
        NOT grouping(platform), 'platform',
        NOT grouping(path), 'page',
        NOT grouping(country), 'country',
        'total')                                                                  AS facet,
    multiIf(facet = 'platform', platform, facet = 'page', path, toString(country))  AS name,
    sum(visit_daily.visits)                                                       AS visits
FROM visit_daily
WHERE organization_id = {organization_id:UUID}
  AND brand_id = {brand_id:UUID}
  AND day BETWEEN {date_from:Date} AND {date_to:Date}
  AND event = 'view'
GROUP BY GROUPING SETS ((platform), (path), (country), ())
HAVING visits > 0
ORDER BY facet, visits DESC, name
LIMIT 10 BY facet, if(facet = 'page', '', name)
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0
