-- answer_citations: as citation_sources, answer by answer, for what citation_daily does not have: prompts, and pages only consulted.
-- With consulted the pages that answers consulted without citing them take the place of citations. cited has the rows of
-- citation_daily_view.
WITH
    ['owned', 'competitor', 'forum', 'social', 'review', 'institutional', 'editorial'] AS types,
    cited AS
    (
        SELECT
            domain,
            url,
            title,
            source_type,
            model,
            reinterpretAsUInt128(sipHash128(domain, url, title, source_type, model)) AS entry,
            sign * (url = '') AS answers,
            sign * (url != '') AS citations,
            sign * (of_answer = 1) AS citing_answers,
            sign * (of_answer_source = 1) AS citing_answers_source,
            sign * (of_domain = 1) AS domain_answers,
            sign * (of_domain_source = 1) AS domain_answers_source
        FROM
        (
            SELECT
                sign,
                model,
                citations.url,
                citations.title,
                citations.cited,
                citations.domain,
                arrayMap(
                    (owned, competitor, listed) -> answerscope_source_type(owned, competitor, listed),
                    citations.owned, citations.competitor_id, citations.listed_type) AS source_types,
                arrayMap(type -> if(type IN ('owned', 'competitor'), type, 'external'), source_types) AS sources
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
        ) AS landed
        ARRAY JOIN
            arrayPushFront(landed.citations.url, '') AS url,
            arrayPushFront(landed.citations.title, '') AS title,
            arrayPushFront(landed.citations.cited, true) AS is_cited,
            arrayPushFront(landed.citations.domain, '') AS domain,
            arrayPushFront(source_types, '') AS source_type,
            arrayPushFront(arrayEnumerateUniq(landed.citations.cited), 0) AS of_answer,
            arrayPushFront(arrayEnumerateUniq(landed.citations.cited, sources), 0) AS of_answer_source,
            arrayPushFront(arrayEnumerateUniq(landed.citations.cited, landed.citations.domain), 0) AS of_domain,
            arrayPushFront(arrayEnumerateUniq(landed.citations.cited, landed.citations.domain, sources), 0) AS of_domain_source
        WHERE url = '' OR is_cited != {consulted:Bool}
    ),
    -- An entry has only current citations, which are equal in the columns below.
    entries AS
    (
        SELECT
            any(cited.domain)      AS domain,
            any(cited.url)         AS url,
            any(cited.title)       AS title,
            any(cited.source_type) AS type,
            any(cited.model)       AS requested,
            sum(cited.answers)     AS answers,
            sum(cited.citations)   AS citations,
            sum(if({source_filter:String} = 'all', cited.citing_answers, citing_answers_source)) AS citing_answers,
            sum(if({source_filter:String} = 'all', domain_answers, domain_answers_source))       AS citing_domain
        FROM cited
        WHERE {source_filter:String} = 'all'
           OR source_type IN ('', {source_filter:String})
           OR {source_filter:String} = 'external' AND source_type NOT IN ('owned', 'competitor')
        GROUP BY entry
        HAVING citations > 0 OR answers > 0
    )
SELECT
    multiIf(NOT grouping(entries.url), 'url', NOT grouping(entries.domain), 'domain', 'total') AS facet,
    if(facet = 'total', '', min(entries.domain))                           AS domain,
    entries.url                                                            AS url,
    if(facet = 'url', minIf(entries.title, entries.title != ''), '')       AS title,
    if(facet = 'total', '', types[min(indexOf(types, entries.type))])      AS source_type,
    arraySort(groupUniqArrayIf(requested, entries.citations > 0))          AS models,
    max(sum(entries.answers)) OVER ()                                      AS answers,
    sum(entries.citations)                                                 AS citations,
    multiIf(
        facet = 'url', citations,
        facet = 'domain', sum(citing_domain),
        sum(entries.citing_answers))                                       AS citing_answers,
    answerscope_round(answerscope_ratio(100 * citing_answers, answers), 1) AS usage_pct,
    answerscope_round(answerscope_ratio(citations, answers), 1)            AS citations_per_answer,
    countIf(facet = 'domain') OVER ()                                      AS domains,
    countIf(facet = 'url') OVER ()                                         AS urls,
    if(facet = 'total', types, [])                                         AS source_types,
    if(facet = 'total', sumForEach(arrayMap(type -> facet = 'domain' AND source_type = type, types)) OVER (), []) AS domains_by_type,
    arrayMap(n -> answerscope_round(answerscope_ratio(100 * n, domains), 1), domains_by_type) AS pct_by_type,
    if(facet = 'total', arrayResize(sumForEach(arrayMap(type -> if(entries.type = type, entries.citations, 0), types)), length(types)), []) AS citations_by_type,
    arrayMap(n -> answerscope_round(answerscope_ratio(100 * n, citations), 1), citations_by_type) AS citations_pct_by_type
FROM entries
GROUP BY GROUPING SETS ((entries.domain), (entries.url), ())
HAVING facet = 'total' OR citations > 0
ORDER BY facet = 'total' DESC, facet, citations DESC, url, domain
LIMIT {limit:UInt32} BY facet
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0
