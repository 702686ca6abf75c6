-- citation_sources: the citations of the filtered answers: all, and by the most cited domains and URLs.
-- facet is total (one row, always), domain or url (at most limit rows of each, by citations descending, then by name). source_filter
-- filters citations, but not answers, the divisor of usage_pct and citations_per_answer. mentioned filters answers.
WITH
    ['owned', 'competitor', 'forum', 'social', 'review', 'institutional', 'editorial'] AS types,
    -- An entry has only current citations, which are equal in the columns below.
    entries AS
    (
        SELECT
            any(citation_daily.domain)      AS domain,
            any(citation_daily.url)         AS url,
            any(citation_daily.title)       AS title,
            any(citation_daily.source_type) AS type,
            any(citation_daily.model)       AS requested,
            sum(citation_daily.answers)     AS answers,
            sum(citation_daily.citations)   AS citations,
            sum(if({source_filter:String} = 'all', citation_daily.citing_answers, citing_answers_source)) AS citing_answers,
            sum(if({source_filter:String} = 'all', domain_answers, domain_answers_source))       AS citing_domain
        FROM citation_daily
        WHERE organization_id = {organization_id:UUID}
          AND brand_id = {brand_id:UUID}
          AND day BETWEEN {date_from:Date} AND {date_to:Date}
          AND answerscope_matches_code({platforms:Array(String)}, platform)
          AND answerscope_matches_code({models:Array(String)}, model)
          AND answerscope_matches_code({regions:Array(String)}, region)
          AND answerscope_matches({topics:Array(UUID)}, answerscope_given(topic_id))
          AND answerscope_matches({branded:Array(Bool)}, branded)
          AND answerscope_matches({mentioned:Array(Bool)}, mentioned)
          AND ({source_filter:String} = 'all'
            OR source_type IN ('', {source_filter:String})
            OR {source_filter:String} = 'external' AND source_type NOT IN ('owned', 'competitor'))
        GROUP BY entry
        HAVING citations > 0 OR answers > 0
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
