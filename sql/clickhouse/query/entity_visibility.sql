-- entity_visibility: the figures of the brand and of each live competitor over the same filtered answers, one row per group and entity.
-- The brand comes first. A competitor that no answer mentions or cites has zeros. Without groups the rows exist also without answers.
-- not_shown are runs whose surface had no answer. shown_pct is 100 × seen / (seen + not_shown), with Wilson's interval, NULL under 5 of
-- both; seen are the answers of the platforms that had none at least once in the window, whatever else is filtered.
-- rate_gap is the rate of the brand less that of the entity, paired by prompt: its verdict says where the brand is. NULL with prompts, since
-- nothing is paired within one.
-- labelled are the answers that name the entity and have a label, of which the tones are shares.
WITH
    answered AS
    (
        SELECT
            answerscope_group({group_by:String}, platform, model, region, topic_id) AS group_key,
            prompt_id,
            entity_id,
            sum(entity_prompt_daily.answers) AS answers, -- only the brand's row, which every prompt has, has answers
            sum(entity_prompt_daily.not_shown) AS not_shown,
            sumIf(entity_prompt_daily.answers, (organization_id, brand_id, lower(platform)) GLOBAL IN (
                SELECT organization_id, brand_id, lower(platform)
                FROM answer_daily
                WHERE organization_id = {organization_id:UUID}
                  AND brand_id = {brand_id:UUID}
                  AND day BETWEEN {date_from:Date} AND {date_to:Date}
                  AND not_shown != 0)) AS seen,
            sum(entity_prompt_daily.mention_answers) AS mention_answers,
            sum(entity_prompt_daily.citation_answers) AS citation_answers,
            sum(entity_prompt_daily.inverse_position) AS inverse_position,
            sum(entity_prompt_daily.positions) AS positions,
            sum(entity_prompt_daily.mentions) AS mentions,
            sum(entity_prompt_daily.citations) AS citations,
            sum(entity_prompt_daily.visibility) AS visibility,
            sum(entity_prompt_daily.positive_answers) AS positive_answers,
            sum(entity_prompt_daily.neutral_answers) AS neutral_answers,
            sum(entity_prompt_daily.negative_answers) AS negative_answers
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
        GROUP BY group_key, prompt_id, entity_id
    ),
    prompts AS
    (
        SELECT *,
            answerscope_points(mention_answers, citation_answers, inverse_position) AS points,
            sum(answered.answers) OVER (PARTITION BY group_key, prompt_id) AS asked,
            sumIf(answered.mention_answers, entity_id = {brand_id:UUID}) OVER (PARTITION BY group_key, prompt_id) AS brand_named
        FROM answered
    ),
    sums AS
    (
        SELECT
            group_key,
            entity_id,
            sum(prompts.answers) AS answers,
            sum(prompts.not_shown) AS not_shown,
            sum(prompts.seen) AS seen,
            countIf(prompts.answers > 0) AS prompt_count,
            sum(prompts.answers * prompts.answers) AS nn,
            countIf(prompts.mention_answers + prompts.citation_answers > 0) AS visible_prompts,
            sum(prompts.mention_answers) AS mention_answers,
            sum(prompts.citation_answers) AS citation_answers,
            sum(prompts.inverse_position) AS inverse_position,
            sum(prompts.positions) AS positions,
            sum(prompts.mentions) AS mentions,
            sum(prompts.citations) AS citations,
            sum(prompts.visibility) AS visibility,
            sum(prompts.positive_answers) AS positive_answers,
            sum(prompts.neutral_answers) AS neutral_answers,
            sum(prompts.negative_answers) AS negative_answers,
            sum(prompts.mention_answers * prompts.mention_answers) AS mm,
            sum(prompts.mention_answers * asked) AS mn,
            sum(prompts.mention_answers * brand_named) AS mb,
            sum(points * points) AS yy,
            sum(points * asked) AS yn
        FROM prompts
        GROUP BY group_key, entity_id
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
    groups AS
    (
        SELECT
            group_key,
            sum(entities.answers) AS answers,
            sum(entities.not_shown) AS not_shown,
            sum(entities.seen) AS seen,
            sum(entities.prompt_count) AS prompt_count,
            sum(entities.nn) AS nn,
            groupArray(entity_id) AS ids,
            groupArray([
                toInt64(visible_prompts), mention_answers, citation_answers, inverse_position, positions, mentions,
                citations, visibility, positive_answers, neutral_answers, negative_answers, mm, mn, mb]) AS counts,
            groupArray([yy, yn]) AS squares
        FROM
        (
            SELECT * FROM sums
            UNION ALL -- without groups there is a row also without answers
            SELECT '', {brand_id:UUID}, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0., 0.
            WHERE {group_by:String} = ''
        ) AS entities
        GROUP BY group_key
    ),
    measured AS
    (
        -- An entity without a row has zeros. An answer that mentions an entity has 100 points of its rate; of the gap to the brand, those of
        -- the brand's less its own.
        WITH
            arrayResize(counts[indexOf(ids, entity.1)], 14) AS own,
            counts[indexOf(ids, {brand_id:UUID})] AS brand,
            arrayResize(squares[indexOf(ids, entity.1)], 2) AS square
        SELECT *,
            entity,
            own,
            [
                answerscope_score(answers, own[2], own[3], own[4]),
                answerscope_ratio(100 * own[2], answers),
                answerscope_ratio(100 * (brand[2] - own[2]), answers)
            ] AS means,
            arrayMap(
                (mean, yy, yn) -> answerscope_margin(prompt_count, answers, mean, yy, yn, nn),
                means,
                [square[1], 10000 * own[12], 10000 * (brand[12] - 2 * own[14] + own[12])],
                [square[2], 100 * own[13], 100 * (brand[13] - own[13])]) AS margins,
            arrayMap(
                (mean, margin, lowest) -> answerscope_wilson_interval(
                    of_prompt, prompt_count, answers, mean, margin, lowest),
                means, margins, [0, 0, -100]) AS intervals,
            answerscope_ratio(100 * seen, seen + not_shown) AS shown,
            arrayMap(
                z -> if(seen + not_shown < 5, NULL, answerscope_round(answerscope_wilson(seen, seen + not_shown, z), 1)),
                [-1.96, 1.96]) AS shown_ends,
            arraySlice(own, 9, 3) AS labels,
            arraySum(labels) AS labelled,
            arrayMap(y -> answerscope_round(answerscope_ratio(100 * y, labelled), 1), labels) AS tones
        FROM groups
        ARRAY JOIN arrayPushFront(arrayFilter(rival -> rival.3 = {brand_id:UUID}, live), ({brand_id:UUID}, '', {brand_id:UUID})) AS entity
    )
SELECT
    group_key,
    entity.1                                                                        AS entity_id,
    CAST(entity_id = {brand_id:UUID} AS Bool)                                       AS is_brand,
    entity.2                                                                        AS name,
    answers,
    not_shown,
    own[2]                                                                          AS mention_answers,
    own[3]                                                                          AS citation_answers,
    own[6]                                                                          AS mentions,
    own[7]                                                                          AS citations,
    prompt_count,
    toUInt64(own[1])                                                                AS visible_prompts,
    answerscope_round(answerscope_ratio(100 * visible_prompts, prompt_count), 1)    AS visibility_rate_pct,
    answerscope_round(answerscope_ratio(own[8], answers), 1)                        AS avg_visibility,
    answerscope_round(answerscope_ratio(own[4] / 5354228880, answers), 4)           AS position_factor,
    answerscope_round(answerscope_ratio(own[5], mention_answers), 1)                AS avg_position,
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
