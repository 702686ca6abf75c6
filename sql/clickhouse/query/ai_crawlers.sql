-- ai_crawlers: requests of AI crawlers for a brand's site, in all and by crawler, purpose, status and page.
-- facet is total, crawler, purpose, status or page (a path, the top 10); only a crawler's row has operator, platform and purpose.
-- Rows of a facet are sorted by requests descending, then by name.
WITH
    crawled AS
    (
        SELECT
            crawler,
            operator,
            platform,
            purpose,
            status,
            answerscope_path(path) AS page,
            requests,
            verified,
            unverified,
            bytes
        FROM crawl_daily
        WHERE organization_id = {organization_id:UUID}
          AND brand_id = {brand_id:UUID}
          AND day BETWEEN {date_from:Date} AND {date_to:Date}
          AND answerscope_matches_code({platforms:Array(String)}, platform)
    ),
    counted AS
    (
        SELECT
            grouping(crawler, purpose, status, page) AS level,
            crawler,
            operator,
            platform,
            purpose,
            status,
            page,
            sum(crawled.requests)                    AS requests,
            sum(crawled.verified)                    AS verified,
            sum(crawled.unverified)                  AS unverified,
            sum(crawled.bytes)                       AS bytes
        FROM crawled
        GROUP BY GROUPING SETS ((crawler, operator, platform, purpose), (purpose), (status), (page), ())
        HAVING requests > 0
    ),
    facets AS
    (
        SELECT
            transform(level, [3, 11, 13, 14], ['crawler', 'purpose', 'status', 'page'], 'total')    AS facet,
            multiIf(level = 3, toString(crawler), level = 11, toString(counted.purpose), level = 13, toString(status), page) AS name,
            toString(counted.operator)                                                              AS operator,
            toString(counted.platform)                                                              AS platform,
            if(level = 3, toString(counted.purpose), '')                                            AS purpose,
            requests,
            verified,
            unverified,
            bytes
        FROM counted
    )
SELECT
    facet,
    name,
    operator,
    platform,
    purpose,
    requests,
    verified,
    unverified,
    bytes
FROM facets
ORDER BY facet, requests DESC, name, operator, platform, purpose
LIMIT 10 BY facet, if(facet = 'page', '', name), operator, platform, purpose
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0
