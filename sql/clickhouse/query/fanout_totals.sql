-- fanout_totals: how many answers searched before they were written, and how often: one row for each platform, then the sum of all, which has
-- all_platforms. queries are different ones. Without answers there may be no row.
-- An id's first row has its queries; which answers pass is said by the sum of its rows. Only answers have queries: months whose answers were
-- deleted are in no figure.
WITH landed AS
    (
        WITH
            answerscope_matches({topics:Array(UUID)}, answerscope_given(topic_id))
            AND answerscope_matches({branded:Array(Bool)}, branded) AS passes
        SELECT
            any(lower(platform))                            AS asked_platform,
            anyIf(search_queries, notEmpty(search_queries)) AS issued
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
    CAST(grouping(asked_platform) AS Bool) AS all_platforms,
    toString(asked_platform)               AS platform,
    toInt64(count())                       AS answers,
    toInt64(countIf(notEmpty(issued)))     AS searching_answers,
    toInt64(sum(length(issued)))           AS searches,
    uniqExactArray(issued)                 AS queries,
    answerscope_round(answerscope_ratio(searches, answers), 1) AS searches_per_answer
FROM landed
GROUP BY GROUPING SETS ((asked_platform), ())
HAVING answers > 0
ORDER BY all_platforms, platform
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0
