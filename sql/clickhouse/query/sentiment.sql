-- sentiment: how the answers that name the brand or a live competitor speak of it: one row per group and entity, the brand's first.
-- Shares are of the labelled ones: the positive, neutral and negative. Their intervals are clustered by prompt, NULL under 5 prompts with
-- labelled answers. answers are all of the group. Without groups the rows exist also without answers.
WITH
    prompts AS
    (
        SELECT
            answerscope_group({group_by:String}, platform, model, region, topic_id) AS group_key,
            entity_id,
            prompt_id,
            sum(entity_prompt_daily.answers) AS asked, -- only the brand's row, which every prompt has, has answers
            sum(entity_prompt_daily.mention_answers) AS mention_answers,
            sum(positive_answers) AS positive,
            sum(neutral_answers) AS neutral,
            sum(negative_answers) AS negative,
            positive + neutral + negative AS labelled
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
        GROUP BY group_key, entity_id, prompt_id
    ),
    sums AS
    (
        SELECT
            group_key,
            entity_id,
            sum(asked) AS answers,
            sum(prompts.mention_answers) AS mention_answers,
            sum(prompts.positive) AS positive,
            sum(prompts.neutral) AS neutral,
            sum(prompts.negative) AS negative,
            countIf(labelled > 0) AS prompt_count, -- with labelled answers
            sum(labelled * labelled) AS nn,
            sum(prompts.positive * prompts.positive) AS positive_yy,
            sum(prompts.neutral * prompts.neutral) AS neutral_yy,
            sum(prompts.negative * prompts.negative) AS negative_yy,
            sum(prompts.positive * labelled) AS positive_yn,
            sum(prompts.neutral * labelled) AS neutral_yn,
            sum(prompts.negative * labelled) AS negative_yn
        FROM prompts
        GROUP BY group_key, entity_id
    ),
    -- formulas
    notEmpty({prompts:Array(UUID)}) AS of_prompt,
    (
        SELECT groupArray((id, name))
        FROM dimension_competitors FINAL
        WHERE organization_id = {organization_id:UUID}
          AND brand_id = {brand_id:UUID}
          AND NOT deleted
    ) AS live,
    measured AS
    (
        -- An entity without a row has zeros. An answer of a label has 100 points of it.
        SELECT
            group_key,
            entity.1 AS entity_id,
            entity.2 AS name,
            answers,
            arrayFirst(row -> row.1 = entity.1, found) AS own,
            own.2 AS mention_answers,
            [own.3, own.4, own.5] AS counts,
            arraySum(counts) AS labelled,
            arrayMap(y -> answerscope_ratio(100 * y, labelled), counts) AS shares,
            arrayMap(
                (share, yy, yn) -> answerscope_wilson_interval(
                    of_prompt, own.6, labelled, share, answerscope_margin(own.6, labelled, share, 10000 * yy, 100 * yn, own.7), 0),
                shares, [own.8, own.9, own.10], [own.11, own.12, own.13]) AS intervals
        FROM
        (
            SELECT
                group_key,
                max(entities.answers) AS answers,
                groupArray((
                    entity_id, mention_answers, positive, neutral, negative, prompt_count, nn, positive_yy, neutral_yy,
                    negative_yy, positive_yn, neutral_yn, negative_yn)) AS found
            FROM
            (
                SELECT * FROM sums
                UNION ALL -- without groups there is a row also without answers
                SELECT '', {brand_id:UUID}, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
                WHERE {group_by:String} = ''
            ) AS entities
            GROUP BY group_key
        ) AS grouped
        ARRAY JOIN arrayPushFront(live, ({brand_id:UUID}, '')) AS entity
    )
SELECT
    group_key,
    entity_id,
    CAST(entity_id = {brand_id:UUID} AS Bool) AS is_brand,
    name,
    answers,
    mention_answers,
    labelled,
    mention_answers - labelled AS unknown,
    counts[1] AS positive,
    counts[2] AS neutral,
    counts[3] AS negative,
    answerscope_round(shares[1], 1) AS positive_pct,
    intervals[1][1] AS positive_low,
    intervals[1][2] AS positive_high,
    answerscope_round(shares[2], 1) AS neutral_pct,
    intervals[2][1] AS neutral_low,
    intervals[2][2] AS neutral_high,
    answerscope_round(shares[3], 1) AS negative_pct,
    intervals[3][1] AS negative_low,
    intervals[3][2] AS negative_high
FROM measured
WHERE {group_by:String} = '' OR answers > 0
ORDER BY group_key, is_brand DESC, name
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0
