-- entity_trend: the figures of the brand and of each live competitor over the same filtered answers, one row per bucket that has answers and entity.
-- The brand comes first. A competitor that no answer mentions or cites has zeros. sov_pct is the share of all mentions of the bucket.
WITH
    prompts AS
    (
        SELECT
            answerscope_bucket({granularity:String}, day, {date_from:Date}) AS bucket,
            entity_id,
            prompt_id,
            sum(entity_prompt_daily.answers)          AS asked, -- only the brand's row, which every prompt has, has answers
            sum(entity_prompt_daily.mention_answers)  AS mention_answers,
            sum(entity_prompt_daily.citation_answers) AS citation_answers,
            sum(entity_prompt_daily.inverse_position) AS inverse_position,
            sum(entity_prompt_daily.mentions)         AS mentions,
            sum(entity_prompt_daily.citations)        AS citations,
            answerscope_points(mention_answers, citation_answers, inverse_position) AS points,
            sum(asked) OVER (PARTITION BY bucket, prompt_id) AS asked_of_prompt
        FROM entity_prompt_daily
        WHERE organization_id = {organization_id:UUID}
          AND brand_id = {brand_id:UUID}
          AND day BETWEEN {date_from:Date} AND {date_to:Date}
          AND answerscope_matches_code({platforms:Array(String)}, platform)
          AND answerscope_matches_code({models:Array(String)}, model)
          AND answerscope_matches_code({regions:Array(String)}, region)
          AND answerscope_matches({topics:Array(UUID)}, answerscope_given(topic_id))
          AND answerscope_matches({branded:Array(Bool)}, branded)
          AND answerscope_matches({prompts:Array(UUID)}, prompt_id)
        GROUP BY bucket, entity_id, prompt_id
    ),
    sums AS
    (
        SELECT
            bucket,
            entity_id,
            countIf(asked > 0)                                              AS prompt_count,
            sum(asked)                                                      AS answers,
            sum(prompts.mention_answers)                                    AS mention_answers,
            sum(prompts.citation_answers)                                   AS citation_answers,
            sum(prompts.inverse_position)                                   AS inverse_position,
            sum(prompts.mentions)                                           AS mentions,
            sum(prompts.citations)                                          AS citations,
            sum(points * points)                                            AS yy,
            sum(points * asked_of_prompt)                                   AS yn,
            sum(asked * asked)                                              AS nn,
            sum(prompts.mention_answers * prompts.mention_answers)          AS mm,
            sum(prompts.mention_answers * asked_of_prompt)                  AS mn
        FROM prompts
        GROUP BY bucket, entity_id
    ),
    -- formulas
    notEmpty({prompts:Array(UUID)}) AS of_prompt,
    (
        SELECT groupArray((id, name, brand_id))
        FROM dimension_competitors FINAL
        WHERE organization_id = {organization_id:UUID}
          AND brand_id = {brand_id:UUID}
          AND NOT deleted
    ) AS live,
    measured AS
    (
        -- All have the answers and prompts of the brand's row; an entity without a row has zeros.
        SELECT
            bucket,
            entity.1 AS entity_id,
            entity.2 AS name,
            answers,
            prompt_count,
            arrayFirst(row -> row.1 = entity.1, found) AS own,
            own.2 AS mention_answers,
            own.3 AS mentions,
            own.4 AS citations,
            [
                answerscope_score(answers, mention_answers, own.5, own.6),
                answerscope_ratio(100 * mention_answers, answers)
            ] AS means,
            arrayMap(
                (mean, yy, yn) -> answerscope_wilson_interval(
                    of_prompt, prompt_count, answers, mean, answerscope_margin(prompt_count, answers, mean, yy, yn, nn), 0),
                means, [own.7, 10000 * own.9], [own.8, 100 * own.10]) AS intervals -- an answer that mentions it has 100 points
        FROM
        (
            SELECT
                bucket,
                max(sums.answers)      AS answers,
                max(sums.prompt_count) AS prompt_count,
                max(sums.nn)           AS nn,
                groupArray((entity_id, mention_answers, mentions, citations, citation_answers, inverse_position, yy, yn, mm, mn)) AS found
            FROM sums
            GROUP BY bucket
            HAVING answers > 0
        ) AS bucketed
        ARRAY JOIN arrayPushFront(arrayFilter(rival -> rival.3 = {brand_id:UUID}, live), ({brand_id:UUID}, '', {brand_id:UUID})) AS entity
    )
SELECT
    bucket,
    entity_id,
    CAST(entity_id = {brand_id:UUID} AS Bool) AS is_brand,
    name,
    answers,
    mention_answers,
    mentions,
    citations,
    answerscope_round(means[1], 1) AS ai_visibility_score,
    intervals[1][1] AS interval_low,
    intervals[1][2] AS interval_high,
    answerscope_round(means[2], 1) AS mention_rate_pct,
    intervals[2][1] AS mention_rate_low,
    intervals[2][2] AS mention_rate_high,
    answerscope_round(answerscope_ratio(100 * mentions, sum(mentions) OVER (PARTITION BY bucket)), 1) AS sov_pct
FROM measured
ORDER BY is_brand DESC, name, entity_id, bucket
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0
