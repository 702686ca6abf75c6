-- ai_crawlers: requests of AI crawlers for a brand's site, in all and by crawler, purpose, status and page.
-- facet is total, crawler, purpose, status or page (a path, the top 10); only a crawler's row has operator, platform and purpose.
-- Rows of a facet are sorted by requests descending, then by name.
SELECT
    multiIf(
        NOT grouping(crawler), 'crawler',
        NOT grouping(crawl_daily.purpose), 'purpose',
        NOT grouping(status), 'status',
        NOT grouping(path), 'page',
        'total')                                                        AS facet,
    multiIf(
        facet = 'crawler', toString(crawler),
        facet = 'purpose', toString(crawl_daily.purpose),
        facet = 'status', toString(status),
        path)                                                           AS name,
    toString(crawl_daily.operator)                                      AS operator,
    toString(crawl_daily.platform)                                      AS platform,
    if(facet = 'crawler', toString(crawl_daily.purpose), '')            AS purpose,
    sum(crawl_daily.requests)                                           AS requests,
    sum(crawl_daily.verified)                                           AS verified,
    sum(crawl_daily.unverified)                                         AS unverified,
    sum(crawl_daily.bytes)                                              AS bytes
FROM crawl_daily
WHERE organization_id = {organization_id:UUID}
  AND brand_id = {brand_id:UUID}
  AND day BETWEEN {date_from:Date} AND {date_to:Date}
  AND answerscope_matches_code({platforms:Array(String)}, crawl_daily.platform)
GROUP BY GROUPING SETS ((crawler, crawl_daily.operator, crawl_daily.platform, crawl_daily.purpose), (crawl_daily.purpose), (status), (path), ())
HAVING requests > 0
ORDER BY facet, requests DESC, name, operator, platform, purpose
LIMIT 10 BY facet, if(facet = 'page', '', name), operator, platform, purpose
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0
