-- answer_citations: as citation_sources, answer by answer, for what citation_daily does not have: prompts, and pages only consulted.
-- With consulted the pages that answers consulted without citing them take the place of citations. cited has the rows of
-- citation_daily_view.
WITH
    ['owned', 'competitor', 'forum', 'social', 'review', 'institutional', 'editorial'] AS types,
    landed AS
    (
        SELECT
            sign,
            model,
            citations.url,
            citations.title,
            citations.domain,
            citations.cited,
            arrayMap(
                (owned, competitor, listed) -> answerscope_source_type(owned, competitor, listed),
                citations.owned, citations.competitor_id, citations.listed_type) AS source_types
        FROM answers
        WHERE organization_id = {organization_id:UUID}
          AND brand_id = {brand_id:UUID}
          AND day BETWEEN {date_from:Date} AND {date_to:Date}
          AND answered
          AND NOT endsWith(platform, '-shopping')
          AND answerscope_matches_code({platforms:Array(String)}, platform)
          AND answerscope_matches_code({models:Array(String)}, model)
          AND answerscope_matches_code({regions:Array(String)}, region)
          AND answerscope_matches({topics:Array(UUID)}, answerscope_given(topic_id))
          AND answerscope_matches({branded:Array(Bool)}, branded)
          AND answerscope_matches({prompts:Array(UUID)}, prompt_id)
          AND answerscope_matches({mentioned:Array(Bool)}, CAST(mention_count > 0 AS Bool))
    ),
    selected AS
    (
        SELECT *,
            arrayMap(
                (is_cited, type) -> is_cited != {consulted:Bool}
                    AND has(['all', type, if(type IN ('owned', 'competitor'), '', 'external')], {source_filter:String}),
                citations.cited, source_types) AS passes
        FROM landed
    ),
    entries AS
    (
        SELECT
            domain,
            url,
            title,
            source_type                                      AS type,
            model                                            AS requested,
            sumIf(sign, url = '')                             AS answers, -- each has a row without a URL
            sumIf(sign, url != '')                            AS citations,
            sumIf(sign, of_answer = 1)                        AS citing_answers,
            sumIf(sign, of_domain = 1)                        AS citing_domain
        FROM selected
        ARRAY JOIN
            arrayPushFront(selected.citations.url, '')                               AS url,
            arrayPushFront(selected.citations.title, '')                             AS title,
            arrayPushFront(selected.citations.domain, '')                            AS domain,
            arrayPushFront(source_types, '')                                AS source_type,
            arrayPushFront(passes, true)                                    AS is_selected,
            arrayPushFront(arrayEnumerateUniq(passes), 0)                   AS of_answer,
            arrayPushFront(arrayEnumerateUniq(passes, selected.citations.domain), 0) AS of_domain
        WHERE is_selected
        GROUP BY domain, url, title, type, requested
        HAVING sum(sign) > 0
    ),
    sums AS
    (
        SELECT
            grouping(entries.url, entries.domain)                         AS level, -- 3: all, 2: a domain, 1: a URL
            min(entries.domain)                                           AS domain,
            entries.url                                                   AS url,
            minIf(entries.title, entries.title != '')                     AS title,
            min(indexOf(types, entries.type))                             AS nth_type,
            arraySort(groupUniqArrayIf(requested, entries.citations > 0)) AS models,
            max(sum(entries.answers)) OVER ()                             AS answers,
            sum(entries.citations)                                        AS citations,
            sum(entries.citing_answers)                                   AS citing_answers,
            sum(citing_domain)                                            AS citing_domain,
            countIf(level = 2) OVER ()                                    AS domains,
            countIf(level = 1) OVER ()                                    AS urls,
            sumForEach(arrayMap(nth -> level = 2 AND nth_type = nth, arrayEnumerate(types))) OVER () AS domains_by_type,
            arrayResize(sumForEach(arrayMap(type -> if(entries.type = type, entries.citations, 0), types)), 7) AS citations_by_type
        FROM entries
        GROUP BY GROUPING SETS ((entries.domain), (entries.url), ())
        HAVING level = 3 OR citations > 0
        ORDER BY level DESC, citations DESC, url, domain
        LIMIT {limit:UInt32} BY level
    )
-- formulas
SELECT
    ['url', 'domain', 'total'][level]                                                AS facet,
    if(facet = 'total', '', sums.domain)                                             AS domain,
    url,
    if(facet = 'url', sums.title, '')                                                AS title,
    if(facet = 'total', '', types[nth_type])                                         AS source_type,
    models,
    answers,
    citations,
    [citations, citing_domain, sums.citing_answers][level]                           AS citing_answers,
    answerscope_round(answerscope_ratio(100 * citing_answers, answers), 1)           AS usage_pct,
    answerscope_round(answerscope_ratio(citations, answers), 1)                      AS citations_per_answer,
    domains,
    urls,
    if(facet = 'total', types, [])                                                   AS source_types,
    if(facet = 'total', sums.domains_by_type, [])                                    AS domains_by_type,
    arrayMap(n -> answerscope_round(answerscope_ratio(100 * n, domains), 1), domains_by_type) AS pct_by_type,
    if(facet = 'total', sums.citations_by_type, [])                                  AS citations_by_type,
    arrayMap(n -> answerscope_round(answerscope_ratio(100 * n, citations), 1), citations_by_type) AS citations_pct_by_type
FROM sums
ORDER BY level DESC, citations DESC, url, domain
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0
