-- ai_crawlers: requests of AI crawlers for a brand's site, in all and by crawler, purpose, status and page.
-- facet is total, crawler, purpose, status or page (a path, the top 10); only a crawler's row has operator, platform and purpose.
-- Rows of a facet are sorted by requests descending, then by name.
SELECT
    multiIf(
        NOT grouping(crawler), 'crawler',
        NOT grouping(crawled.purpose), 'purpose',
        NOT grouping(status), 'status',
        NOT grouping(page), 'page',
        'total')                                                        AS facet,
    multiIf(
        facet = 'crawler', toString(crawler),
        facet = 'purpose', toString(crawled.purpose),
        facet = 'status', toString(status),
        page)                                                           AS name,
    toString(crawled.operator)                                          AS operator,
    toString(crawled.platform)                                          AS platform,
    if(facet = 'crawler', toString(crawled.purpose), '')                AS purpose,
    sum(crawled.requests)                                               AS requests,
    sum(crawled.verified)                                               AS verified,
    sum(crawled.unverified)                                             AS unverified,
    sum(crawled.bytes)                                                  AS bytes
FROM
(
    SELECT
        crawler,
        operator,
        platform,
        purpose,
        status,
        answerscope_path(path) AS page,
        crawl_daily.requests   AS requests,
        crawl_daily.verified   AS verified,
        crawl_daily.unverified AS unverified,
        crawl_daily.bytes      AS bytes
    FROM crawl_daily
    WHERE organization_id = {organization_id:UUID}
      AND brand_id = {brand_id:UUID}
      AND day BETWEEN {date_from:Date} AND {date_to:Date}
      AND answerscope_matches_code({platforms:Array(String)}, platform)
) AS crawled
GROUP BY GROUPING SETS ((crawler, crawled.operator, crawled.platform, crawled.purpose), (crawled.purpose), (status), (page), ())
HAVING requests > 0
ORDER BY facet, requests DESC, name, operator, platform, purpose
LIMIT 10 BY facet, if(facet = 'page', '', name), operator, platform, purpose
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0
