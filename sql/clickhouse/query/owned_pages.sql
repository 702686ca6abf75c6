-- owned_pages: the pages of a brand's site that platforms crawl, cite or send visits to. Crawls are requests of purpose search or user that
-- were answered with status 200, crawl_days the days with any. citations are answers that cite the page as the brand's, listed all that cite it.
SELECT
    page,
    toInt64(sum(crawl_count))     AS crawls,
    toInt64(uniqExactArray(days)) AS crawl_days,
    toInt64(sum(citation_count))  AS citations,
    toInt64(sum(citing_count))    AS listed,
    toInt64(sum(visit_count))     AS visits
FROM
(
    SELECT *,
        answerscope_page(address) AS page
    FROM
    (
        SELECT
            concat(host, path)  AS address,
            sum(requests)       AS crawl_count,
            groupUniqArray(day) AS days,
            0                   AS citation_count,
            0                   AS citing_count,
            0                   AS visit_count
        FROM crawl_daily
        WHERE organization_id = {organization:UUID}
          AND brand_id = {brand:UUID}
          AND day BETWEEN {first_day:Date} AND {last_day:Date}
          AND purpose IN ('search', 'user')
          AND status = 200
          AND NOT match(path, '(?i)[.](txt|xml)$') -- robots.txt, sitemaps and feeds are for crawlers alone
        GROUP BY address
        UNION ALL
        SELECT
            cited.1 AS address,
            0,
            [],
            sumIf(sign, cited.2),
            sum(sign),
            0
        FROM answers
        ARRAY JOIN arrayDistinct(arrayMap(
            (url, is_owned) -> (answerscope_cited_page(url), is_owned), -- the host of a page says whose it is
            arrayFilter((url, is_cited) -> is_cited, citations.url, citations.cited),
            arrayFilter((is_owned, is_cited) -> is_cited, citations.owned, citations.cited))) AS cited
        WHERE organization_id = {organization:UUID}
          AND brand_id = {brand:UUID}
          AND day BETWEEN {first_day:Date} AND {last_day:Date}
          AND answered
          AND NOT endsWith(platform, '-shopping')
        GROUP BY address
        UNION ALL
        SELECT
            concat(host, path) AS address,
            0,
            [],
            0,
            0,
            sum(visit_daily.visits)
        FROM visit_daily
        WHERE organization_id = {organization:UUID}
          AND brand_id = {brand:UUID}
          AND day BETWEEN {first_day:Date} AND {last_day:Date}
          AND event = 'view'
        GROUP BY address
    ) AS parts
) AS addresses
GROUP BY page
HAVING crawls + citations + visits > 0
ORDER BY page
