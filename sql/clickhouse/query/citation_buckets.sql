-- citation_buckets: the citations of the filtered answers by bucket and source type, in the order of dates, then of types.
-- With consulted the pages that answers consulted without citing them take the place of citations. citing_answers have such a page.
WITH ['owned', 'competitor', 'forum', 'social', 'review', 'institutional', 'editorial'] AS types
SELECT
    bucket,
    source_type,
    sum(sign)                                                                                             AS citations,
    answerscope_round(answerscope_ratio(100 * citations, sum(citations) OVER (PARTITION BY bucket)), 1)   AS citations_pct,
    sumIf(sign, of_answer = 1)                                                                            AS citing_answers
FROM
(
    SELECT
        answerscope_bucket({granularity:String}, day, {date_from:Date}) AS bucket,
        sign,
        arrayFilter(
            (type, is_cited) -> is_cited != {consulted:Bool}
                AND ({source_filter:String} = 'all'
                  OR type = {source_filter:String}
                  OR {source_filter:String} = 'external' AND type NOT IN ('owned', 'competitor')),
            arrayMap(
                (owned, competitor, listed) -> answerscope_source_type(owned, competitor, listed),
                citations.owned, citations.competitor_id, citations.listed_type),
            citations.cited) AS source_types
    FROM answers
    WHERE organization_id = {organization_id:UUID}
      AND brand_id = {brand_id:UUID}
      AND day BETWEEN {date_from:Date} AND {date_to:Date}
      AND NOT given_up
      AND NOT endsWith(platform, '-shopping')
      AND answerscope_matches_code({platforms:Array(String)}, platform)
      AND answerscope_matches_code({models:Array(String)}, model)
      AND answerscope_matches_code({regions:Array(String)}, region)
      AND answerscope_matches({topics:Array(UUID)}, answerscope_given(topic_id))
      AND answerscope_matches({branded:Array(Bool)}, branded)
      AND answerscope_matches({prompts:Array(UUID)}, prompt_id)
      AND answerscope_matches({mentioned:Array(Bool)}, CAST(mention_count > 0 AS Bool))
)
ARRAY JOIN
    source_types AS source_type,
    arrayEnumerateUniq(source_types) AS of_answer
GROUP BY bucket, source_type
HAVING citations > 0
ORDER BY bucket, indexOf(types, source_type)
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0
