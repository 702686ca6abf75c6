-- brand_visibility: a brand's figures over the filtered answers, one row per group and bucket that have runs.
-- Where all were given up, or their surface had no answer, there are no answers, and so no rates.
WITH
    (
        SELECT groupArray(id)
        FROM dimension_competitors FINAL
        WHERE organization_id = {organization_id:UUID}
          AND brand_id = {brand_id:UUID}
          AND NOT deleted
    ) AS live,
    prompts AS
    (
        WITH entity_id = {brand_id:UUID} AS own
        SELECT
            answerscope_group({group_by:String}, platform, model, region, topic_id) AS group_key,
            answerscope_bucket({granularity:String}, day, {date_from:Date}) AS bucket,
            prompt_id,
            sum(entity_prompt_daily.answers)                     AS answers,
            sum(entity_prompt_daily.given_up)                    AS given_up,
            sum(entity_prompt_daily.not_shown)                   AS not_shown,
            sumIf(entity_prompt_daily.mention_answers, own)      AS mention_answers,
            sumIf(entity_prompt_daily.citation_answers, own)     AS citation_answers,
            sumIf(entity_prompt_daily.inverse_position, own)     AS inverse_position,
            sumIf(entity_prompt_daily.mentions, own)             AS mentions,
            sumIf(entity_prompt_daily.citations, own)            AS citations,
            sumIf(entity_prompt_daily.visibility, own)           AS visibility,
            sumIf(entity_prompt_daily.mention_answers, NOT own)  AS rivals_named,
            sumIf(entity_prompt_daily.visibility_named, NOT own) AS rivals_visibility,
            answerscope_points(mention_answers, citation_answers, inverse_position) AS points
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
          AND (own OR has(live, entity_id))
        GROUP BY group_key, bucket, prompt_id
    ),
    sums AS
    (
        SELECT
            group_key,
            bucket,
            countIf(prompts.answers > 0)                                      AS prompt_count,
            countIf(prompts.mention_answers + prompts.citation_answers > 0)   AS visible_prompts,
            sum(prompts.answers)                                              AS answers,
            sum(prompts.given_up)                                             AS given_up,
            sum(prompts.not_shown)                                            AS not_shown,
            sum(prompts.mention_answers)                                      AS mention_answers,
            sum(prompts.citation_answers)                                     AS citation_answers,
            sum(prompts.inverse_position)                                     AS inverse_position,
            sum(prompts.mentions)                                             AS mentions,
            sum(prompts.citations)                                            AS citations,
            sum(prompts.visibility)                                           AS visibility,
            sum(prompts.rivals_named)                                         AS rivals_named,
            sum(prompts.rivals_visibility)                                    AS rivals_visibility,
            sum(points * points)                                              AS yy,
            sum(points * prompts.answers)                                     AS yn,
            sum(prompts.answers * prompts.answers)                            AS nn,
            sum(prompts.mention_answers * prompts.mention_answers)            AS mm,
            sum(prompts.mention_answers * prompts.answers)                    AS mn
        FROM prompts
        GROUP BY group_key, bucket
        HAVING answers + given_up + not_shown > 0
    ),
    -- formulas
    measured AS
    (
        SELECT *,
            [
                answerscope_score(answers, mention_answers, citation_answers, inverse_position),
                answerscope_ratio(100 * mention_answers, answers)
            ] AS means,
            arrayMap(
                (mean, y, z) -> answerscope_wilson_interval(
                    notEmpty({prompts:Array(UUID)}), prompt_count, answers, mean, answerscope_margin(prompt_count, answers, mean, y, z, nn), 0),
                means, [yy, 10000 * mm], [yn, 100 * mn]) AS intervals -- an answer that mentions it has 100 points
        FROM sums
    )
SELECT
    group_key,
    bucket,
    answers,
    given_up,
    not_shown,
    mention_answers,
    citation_answers,
    mentions,
    citations,
    prompt_count,
    visible_prompts,
    answerscope_round(answerscope_ratio(100 * visible_prompts, prompt_count), 1)     AS visibility_rate_pct,
    answerscope_round(answerscope_ratio(visibility, answers), 1)                     AS avg_visibility,
    answerscope_round(answerscope_ratio(rivals_visibility, rivals_named), 1)         AS avg_competitor_score,
    answerscope_round(answerscope_ratio(inverse_position / 5354228880, answers), 4)  AS position_factor,
    answerscope_round(means[1], 1)                                                   AS ai_visibility_score,
    intervals[1][1]                                                                  AS interval_low,
    intervals[1][2]                                                                  AS interval_high,
    answerscope_round(means[2], 1)                                                   AS mention_rate_pct,
    intervals[2][1]                                                                  AS mention_rate_low,
    intervals[2][2]                                                                  AS mention_rate_high
FROM measured
ORDER BY group_key, bucket
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0
