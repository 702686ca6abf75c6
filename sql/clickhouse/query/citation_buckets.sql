-- citation_buckets: the citations of the filtered answers by bucket and source type, in the order of dates, then of types.
-- With consulted the pages that answers consulted without citing them take the place of citations. Citations are those of citation_sources.
-- citing_answers have such a page; NULL where not all of these answers are kept.
WITH ['owned', 'competitor', 'forum', 'social', 'review', 'institutional', 'editorial'] AS types
SELECT
    bucket,
    type                                                                                                AS source_type,
    sum(counted)                                                                                        AS citations,
    answerscope_round(answerscope_ratio(100 * citations, sum(citations) OVER (PARTITION BY bucket)), 1) AS citations_pct,
    if(sum(kept) = citations, sum(citing), NULL)                                                        AS citing_answers
FROM
(
    SELECT
        answerscope_bucket({granularity:String}, day, {date_from:Date}) AS bucket,
        toString(citation_daily.source_type) AS type,
        citation_daily.citations             AS counted,
        toInt64(0)                           AS kept,
        toInt64(0)                           AS citing
    FROM citation_daily
    WHERE empty({prompts:Array(UUID)})
      AND NOT {consulted:Bool}
      AND url != ''
      AND organization_id = {organization_id:UUID}
      AND brand_id = {brand_id:UUID}
      AND day BETWEEN {date_from:Date} AND {date_to:Date}
      AND answerscope_matches_code({platforms:Array(String)}, platform)
      AND answerscope_matches_code({models:Array(String)}, model)
      AND answerscope_matches_code({regions:Array(String)}, region)
      AND answerscope_matches({topics:Array(UUID)}, answerscope_given(topic_id))
      AND answerscope_matches({branded:Array(Bool)}, branded)
      AND answerscope_matches({mentioned:Array(Bool)}, mentioned)
    UNION ALL -- citation_daily has neither prompts nor consulted pages, nor the answers of a type
    SELECT
        bucket,
        type,
        if(notEmpty({prompts:Array(UUID)}) OR {consulted:Bool}, sign, 0),
        sign,
        sign * (nth = 1)
    FROM
    (
        SELECT
            answerscope_bucket({granularity:String}, day, {date_from:Date}) AS bucket,
            toInt64(answers.sign) AS sign,
            arrayFilter(
                (type, is_cited) -> is_cited != {consulted:Bool},
                arrayMap(
                    (owned, competitor, listed) -> answerscope_source_type(owned, competitor, listed),
                    citations.owned, citations.competitor_id, citations.listed_type),
                citations.cited) AS answer_types
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
    )
    ARRAY JOIN
        answer_types AS type,
        arrayEnumerateUniq(answer_types) AS nth
)
WHERE {source_filter:String} = 'all'
   OR type = {source_filter:String}
   OR {source_filter:String} = 'external' AND type NOT IN ('owned', 'competitor')
GROUP BY bucket, type
HAVING citations > 0
ORDER BY bucket, indexOf(types, type)
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0
