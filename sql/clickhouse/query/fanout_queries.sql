-- fanout_queries: the queries that platforms searched for before most answers, at most limit: by answers descending, then by query.
-- An answer counts once for a query, even if it issued it twice. Rates are of the answers that issued it.
-- An id's first row has its queries; which answers pass is said by the sum of its rows. Only answers have queries: months whose answers were
-- deleted are in no figure.
WITH landed AS
    (
        WITH
            answerscope_matches({topics:Array(UUID)}, answerscope_given(topic_id))
            AND answerscope_matches({branded:Array(Bool)}, branded) AS passes
        SELECT
            any(prompt_id)                                  AS asked,
            any(lower(platform))                            AS asked_platform,
            anyIf(search_queries, notEmpty(search_queries)) AS issued,
            sum(sign * (passes AND mention_count > 0))      AS named,
            sum(sign * (passes AND citation_count > 0))     AS cited
        FROM answers
        WHERE organization_id = {organization_id:UUID}
          AND brand_id = {brand_id:UUID}
          AND day BETWEEN {date_from:Date} AND {date_to:Date}
          AND answered
          AND NOT endsWith(platform, '-shopping')
          AND answerscope_matches_code({platforms:Array(String)}, platform)
          AND answerscope_matches_code({models:Array(String)}, model)
          AND answerscope_matches_code({regions:Array(String)}, region)
        GROUP BY id
        HAVING sum(sign * passes) > 0
    )
SELECT
    query,
    toInt64(count())                                                   AS answers,
    uniqExact(asked)                                                   AS prompt_count,
    arraySort(groupUniqArray(toString(asked_platform)))                AS platforms,
    answerscope_round(answerscope_ratio(100 * sum(named), answers), 1) AS mention_rate_pct,
    answerscope_round(answerscope_ratio(100 * sum(cited), answers), 1) AS cites_own_pct
FROM landed
ARRAY JOIN arrayDistinct(issued) AS query
GROUP BY query
ORDER BY answers DESC, query
LIMIT {limit:UInt32}
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0
