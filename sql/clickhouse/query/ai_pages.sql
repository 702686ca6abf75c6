-- ai_pages: the pages of a brand's site that AI platforms crawl, cite or send visits to, and the goals that such visits reach on them.
-- Crawls and visits have no model, region, topic or prompt: their filters apply to citations alone. total is the number of pages, on every
-- row. Rows are sorted by visits, citations and crawls descending, then by page, at most limit.
SELECT
    page,
    sum(crawled)     AS crawls,
    sum(cited)       AS citations,
    sum(viewed)      AS visits,
    sum(begun)       AS sessions,
    sum(reached)     AS goals,
    count() OVER ()  AS total
FROM
(
    SELECT
        answerscope_page(concat(host, path)) AS page,
        sum(requests)                        AS crawled,
        0                                    AS cited,
        0                                    AS viewed,
        0                                    AS begun,
        0                                    AS reached
    FROM crawl_daily
    WHERE organization_id = {organization_id:UUID}
      AND brand_id = {brand_id:UUID}
      AND day BETWEEN {date_from:Date} AND {date_to:Date}
      AND answerscope_matches_code({platforms:Array(String)}, platform)
    GROUP BY page
    UNION ALL
    SELECT
        answerscope_page(url) AS page,
        0,
        sum(citation_daily.citations),
        0,
        0,
        0
    FROM citation_daily
    WHERE organization_id = {organization_id:UUID}
      AND brand_id = {brand_id:UUID}
      AND day BETWEEN {date_from:Date} AND {date_to:Date}
      AND source_type = 'owned'
      AND answerscope_matches_code({platforms:Array(String)}, platform)
      AND answerscope_matches_code({models:Array(String)}, model)
      AND answerscope_matches_code({regions:Array(String)}, region)
      AND answerscope_matches({topics:Array(UUID)}, answerscope_given(topic_id))
      AND answerscope_matches({branded:Array(Bool)}, branded)
    GROUP BY page
    UNION ALL
    SELECT
        answerscope_page(concat(host, path)) AS page,
        0,
        0,
        sumIf(visit_daily.visits, event = 'view'),
        sumIf(visit_daily.sessions, event = 'view'),
        sumIf(visit_daily.visits, event = 'goal')
    FROM visit_daily
    WHERE organization_id = {organization_id:UUID}
      AND brand_id = {brand_id:UUID}
      AND day BETWEEN {date_from:Date} AND {date_to:Date}
      AND answerscope_matches_code({platforms:Array(String)}, platform)
    GROUP BY page
) AS parts
GROUP BY page
HAVING crawls + citations + visits + goals > 0
ORDER BY visits DESC, citations DESC, crawls DESC, page
LIMIT {limit:UInt32}
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0
