-- ai_pages: the pages of a brand's site that AI platforms crawl, cite or send visits to, and the goals that such visits reach on them.
-- Crawls and visits have no model, region, topic or prompt: their filters apply to citations alone. step leaves out pages: crawled, cited,
-- visited and converted (a goal was reached) select those that are, crawled_never_cited and cited_never_visited those that stop there, ''
-- all. total is the number of pages that step leaves, and the columns named as its values count those of all pages, on every row. Rows are
-- sorted by sort_by (visits, sessions, citations, crawls or goals), then visits, citations and crawls, each descending, then by page, at
-- most limit.
WITH multiIf(
    {step:String} = 'crawled', crawls > 0,
    {step:String} = 'cited', citations > 0,
    {step:String} = 'visited', visits > 0,
    {step:String} = 'converted', goals > 0,
    {step:String} = 'crawled_never_cited', crawls > 0 AND citations = 0,
    {step:String} = 'cited_never_visited', citations > 0 AND visits = 0,
    true) AS is_selected
SELECT
    page,
    sum(crawl_count)                              AS crawls,
    sum(citation_count)                           AS citations,
    sum(view_count)                               AS visits,
    sum(session_count)                            AS sessions,
    sum(goal_count)                               AS goals,
    countIf(crawls > 0) OVER ()                   AS crawled,
    countIf(citations > 0) OVER ()                AS cited,
    countIf(visits > 0) OVER ()                   AS visited,
    countIf(goals > 0) OVER ()                    AS converted,
    countIf(crawls > 0 AND citations = 0) OVER () AS crawled_never_cited,
    countIf(citations > 0 AND visits = 0) OVER () AS cited_never_visited,
    countIf(is_selected) OVER ()                  AS total
FROM
(
    SELECT
        answerscope_page(concat(host, path)) AS page,
        sum(requests)                        AS crawl_count,
        0                                    AS citation_count,
        0                                    AS view_count,
        0                                    AS session_count,
        0                                    AS goal_count
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
QUALIFY is_selected
ORDER BY
    multiIf(
        {sort_by:String} = 'sessions', sessions,
        {sort_by:String} = 'citations', citations,
        {sort_by:String} = 'crawls', crawls,
        {sort_by:String} = 'goals', goals,
        visits) DESC,
    visits DESC,
    citations DESC,
    crawls DESC,
    page
LIMIT {limit:UInt32}
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0
