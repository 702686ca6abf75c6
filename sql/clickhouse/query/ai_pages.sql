-- ai_pages: the pages of a brand's site that AI platforms crawl, cite or send visits to, and the goals that such visits reach on them.
-- Crawls and visits have no model, region, topic or prompt: their filters apply to citations alone. step leaves out pages: crawled, cited,
-- visited and converted (a goal was reached) select those that are, crawled_never_cited and cited_never_visited those that stop there, ''
-- all. total is the number of pages that step leaves, and the columns named as its values count those of all pages, on every row. Rows are
-- sorted by sort_by (visits, sessions, citations, crawls or goals), then visits, citations and crawls, each descending, then by page, at
-- most limit.
WITH
    pages AS
    (
        SELECT
            page,
            sum(crawl_count)    AS crawls,
            sum(citation_count) AS citations,
            sum(view_count)     AS visits,
            sum(session_count)  AS sessions,
            sum(goal_count)     AS goals
        FROM
        (
            SELECT *,
                answerscope_page(address) AS page
            FROM
            (
                SELECT
                    concat(host, path) AS address,
                    sum(requests)      AS crawl_count,
                    0                  AS citation_count,
                    0                  AS view_count,
                    0                  AS session_count,
                    0                  AS goal_count
                FROM crawl_daily
                WHERE organization_id = {organization_id:UUID}
                  AND brand_id = {brand_id:UUID}
                  AND day BETWEEN {date_from:Date} AND {date_to:Date}
                  AND answerscope_matches_code({platforms:Array(String)}, platform)
                GROUP BY host, path
                UNION ALL
                SELECT
                    url AS address,
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
                GROUP BY address
                UNION ALL
                SELECT
                    concat(host, path) AS address,
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
                GROUP BY host, path
            ) AS parts
        ) AS addresses
        GROUP BY page
    ),
    steps AS
    (
        SELECT *,
            [
                crawls > 0, citations > 0, visits > 0, goals > 0,
                (crawls > 0) > citations, (citations > 0) > visits, -- crawled and never cited, cited and never visited
                greatest(crawls, citations, visits, goals) > 0
            ] AS reached,
            indexOf(['crawled', 'cited', 'visited', 'converted', 'crawled_never_cited', 'cited_never_visited', ''], {step:String}) AS nth
        FROM pages
    ),
    counted AS
    (
        SELECT *,
            sumForEach(reached) OVER () AS counts
        FROM steps
    )
SELECT
    page,
    crawls,
    citations,
    visits,
    sessions,
    goals,
    counts[1]   AS crawled,
    counts[2]   AS cited,
    counts[3]   AS visited,
    counts[4]   AS converted,
    counts[5]   AS crawled_never_cited,
    counts[6]   AS cited_never_visited,
    counts[nth] AS total
FROM counted
WHERE reached[nth]
ORDER BY
    [sessions, citations, crawls, goals, visits][transform({sort_by:String}, ['sessions', 'citations', 'crawls', 'goals'], [1, 2, 3, 4], 5)] DESC,
    visits DESC,
    citations DESC,
    crawls DESC,
    page
LIMIT {limit:UInt32}
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0
