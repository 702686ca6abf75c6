-- entity_visibility: the figures of the brand and of each live competitor over the same filtered answers, one row per group and entity.
-- The brand comes first. A competitor that no answer mentions or cites has zeros. Without groups the rows exist also without answers.
-- not_shown are runs whose surface had no answer. shown_pct is 100 × seen / (seen + not_shown), with Wilson's interval, NULL under 5 of
-- both; seen are the answers of the platforms that had none at least once in the window, whatever else is filtered.
-- rate_gap is the rate of the brand less that of the entity, paired by prompt: its verdict says where the brand is. NULL with prompts, since
-- nothing is paired within one.
-- labelled are the answers that name the entity and have a label, of which the tones are shares.
WITH
    notEmpty({prompts:Array(UUID)}) AS of_prompt,
    (
        SELECT groupArray((id, name, brand_id))
        FROM dimension_competitors FINAL
        WHERE organization_id = {organization_id:UUID}
          AND brand_id = {brand_id:UUID}
          AND NOT deleted
    ) AS live,
    (
        SELECT sumMap([(brand_id, lower(platform))], [not_shown]).1
        FROM answer_daily
        WHERE organization_id = {organization_id:UUID}
          AND brand_id = {brand_id:UUID}
          AND day BETWEEN {date_from:Date} AND {date_to:Date}
          AND not_shown != 0
    ) AS hiding,
    answered AS
    (
        SELECT
            answerscope_group({group_by:String}, platform, model, region, topic_id) AS group_key,
            prompt_id,
            entity_id,
            sum(entity_prompt_daily.answers)   AS answers, -- only the brand's row, which every prompt has, has answers
            sum(entity_prompt_daily.not_shown) AS not_shown,
            sumIf(entity_prompt_daily.answers, has(hiding, (brand_id, lower(platform)))) AS seen,
            [
                sum(mention_answers), sum(citation_answers), sum(inverse_position), sum(positions), sum(mentions), sum(citations),
                sum(visibility), sum(positive_answers), sum(neutral_answers), sum(negative_answers)
            ] AS sums
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
          AND (entity_id = {brand_id:UUID} OR has(live.1, entity_id))
        GROUP BY group_key, prompt_id, entity_id
    ),
    prompts AS
    (
        SELECT
            group_key,
            sum(answered.answers)   AS answers,
            sum(answered.not_shown) AS not_shown,
            sum(answered.seen)      AS seen,
            groupArray(entity_id)   AS ids,
            groupArray(sums)        AS all_sums,
            sumIf(sums[1], entity_id = {brand_id:UUID}) AS brand_named
        FROM answered
        GROUP BY group_key, prompt_id
        UNION ALL -- without groups there is a row also without answers
        SELECT '', 0, 0, 0, [], [], 0
        WHERE {group_by:String} = ''
    ),
    entities AS
    (
        -- A prompt has each entity, with zeros where nothing names or cites it.
        WITH
            all_sums[indexOf(ids, entity.1)] AS counts,
            [
                answerscope_points(counts[1], counts[2], counts[3]),
                100. * counts[1], -- an answer that mentions it has 100 points
                100. * (brand_named - counts[1])
            ] AS points
        SELECT
            group_key,
            entity,
            countIf(prompts.answers > 0)                                     AS prompt_count,
            countIf(counts[1] + counts[2] > 0)                               AS visible_prompts,
            sum(prompts.answers)                                             AS answers,
            sum(prompts.not_shown)                                           AS not_shown,
            sum(prompts.seen)                                                AS seen,
            sum(prompts.answers * prompts.answers)                           AS nn,
            sumForEach(counts)                                               AS sums,
            arrayMap(y -> answerscope_ratio(y, answers), sumForEach(points)) AS means,
            sumForEach(arrayMap(y -> y * y, points))                         AS yy,
            sumForEach(arrayMap(y -> y * prompts.answers, points))           AS yn
        FROM prompts
        ARRAY JOIN arrayPushFront(arrayFilter(rival -> rival.3 = {brand_id:UUID}, live), ({brand_id:UUID}, '', {brand_id:UUID})) AS entity
        GROUP BY group_key, entity
    ),
    measured AS
    (
        SELECT *,
            arrayMap((mean, y, z) -> answerscope_margin(prompt_count, answers, mean, y, z, nn), means, yy, yn) AS margins,
            arrayMap(
                (mean, margin, lowest) -> answerscope_wilson_interval(
                    of_prompt, prompt_count, answers, mean, margin, lowest),
                means, margins, [0, 0, -100]) AS intervals,
            answerscope_ratio(100 * seen, seen + not_shown) AS shown,
            arrayMap(
                z -> if(seen + not_shown < 5, NULL, answerscope_round(answerscope_wilson(seen, seen + not_shown, z), 1)),
                [-1.96, 1.96]) AS shown_ends,
            arraySlice(sums, 8) AS labels,
            arraySum(labels) AS labelled,
            arrayMap(y -> answerscope_round(answerscope_ratio(100 * y, labelled), 1), labels) AS tones
        FROM entities
    )
SELECT
    group_key,
    entity.1                                                                        AS entity_id,
    CAST(entity_id = {brand_id:UUID} AS Bool)                                       AS is_brand,
    entity.2                                                                        AS name,
    answers,
    not_shown,
    sums[1]                                                                         AS mention_answers,
    sums[2]                                                                         AS citation_answers,
    sums[5]                                                                         AS mentions,
    sums[6]                                                                         AS citations,
    prompt_count,
    visible_prompts,
    answerscope_round(answerscope_ratio(100 * visible_prompts, prompt_count), 1)    AS visibility_rate_pct,
    answerscope_round(answerscope_ratio(sums[7], answers), 1)                       AS avg_visibility,
    answerscope_round(answerscope_ratio(sums[3] / 5354228880, answers), 4)          AS position_factor,
    answerscope_round(answerscope_ratio(sums[4], mention_answers), 1)               AS avg_position,
    answerscope_round(means[1], 1)                                                  AS ai_visibility_score,
    intervals[1][1]                                                                 AS interval_low,
    intervals[1][2]                                                                 AS interval_high,
    answerscope_round(means[2], 1)                                                  AS mention_rate_pct,
    intervals[2][1]                                                                 AS mention_rate_low,
    intervals[2][2]                                                                 AS mention_rate_high,
    answerscope_round(shown, 1)                                                     AS shown_pct,
    shown_ends[1]                                                                   AS shown_low,
    shown_ends[2]                                                                   AS shown_high,
    if(answers = 0, NULL, rank() OVER (PARTITION BY group_key ORDER BY mention_answers DESC)) AS rank,
    answerscope_round(answerscope_ratio(100 * mentions, sum(mentions) OVER (PARTITION BY group_key)), 1) AS sov_pct,
    if(of_prompt, NULL, answerscope_round(means[3], 1))                             AS rate_gap,
    if(of_prompt, NULL, intervals[3][1])                                            AS rate_gap_low,
    if(of_prompt, NULL, intervals[3][2])                                            AS rate_gap_high,
    answerscope_gap_verdict(rate_gap_low, rate_gap_high)                            AS rate_gap_verdict,
    labelled,
    tones[1]                                                                        AS positive_pct,
    tones[2]                                                                        AS neutral_pct,
    tones[3]                                                                        AS negative_pct
FROM measured
WHERE {group_by:String} = '' OR answers + not_shown > 0
ORDER BY group_key, is_brand DESC, name
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0
