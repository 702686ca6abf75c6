-- brand_visibility: a brand's figures over the filtered answers, one row per bucket that has answers.
-- granularity is day, week (ISO Mondays) or window (one bucket, dated date_from).
-- interval_low and interval_high are NULL under 5 prompts.
WITH
    facts AS
    (
        SELECT
            day,
            prompt_id,
            answers,
            mention_answers,
            citation_answers,
            visible_answers,
            inverse_position,
            mentions,
            citations,
            visibility,
            0 AS rivals_named,
            0 AS rivals_visibility
        FROM prompt_daily
        WHERE organization_id = {organization_id:UUID}
          AND brand_id = {brand_id:UUID}
          AND day BETWEEN {date_from:Date} AND {date_to:Date}
          AND answerscope_matches({models:Array(String)}, model)
          AND answerscope_matches({regions:Array(String)}, region)
          AND answerscope_matches({topics:Array(UUID)}, answerscope_given(topic_id))
          AND answerscope_matches({branded:Array(Bool)}, branded)
        UNION ALL
        SELECT
            day,
            prompt_id,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            mention_answers,
            visibility_named
        FROM competitor_prompt_daily
        WHERE organization_id = {organization_id:UUID}
          AND brand_id = {brand_id:UUID}
          AND day BETWEEN {date_from:Date} AND {date_to:Date}
          AND answerscope_matches({models:Array(String)}, model)
          AND answerscope_matches({regions:Array(String)}, region)
          AND answerscope_matches({topics:Array(UUID)}, answerscope_given(topic_id))
          AND answerscope_matches({branded:Array(Bool)}, branded)
          AND competitor_id IN
          (
            SELECT id
            FROM dimension_competitors FINAL
            WHERE organization_id = {organization_id:UUID}
              AND brand_id = {brand_id:UUID}
              AND NOT deleted
          )
    ),
    prompts AS
    (
        SELECT
            answerscope_bucket({granularity:String}, day, {date_from:Date}) AS bucket,
            prompt_id,
            sum(facts.answers)           AS answers,
            sum(facts.mention_answers)   AS mention_answers,
            sum(facts.citation_answers)  AS citation_answers,
            sum(facts.visible_answers)   AS visible_answers,
            sum(facts.inverse_position)  AS inverse_position,
            sum(facts.mentions)          AS mentions,
            sum(facts.citations)         AS citations,
            sum(facts.visibility)        AS visibility,
            sum(facts.rivals_named)      AS rivals_named,
            sum(facts.rivals_visibility) AS rivals_visibility,
            answerscope_points(mention_answers, citation_answers, inverse_position) AS points
        FROM facts
        GROUP BY bucket, prompt_id
        HAVING answers > 0
    ),
    buckets AS
    (
        SELECT
            bucket,
            count()                        AS prompt_count,
            countIf(visible_answers > 0)   AS visible_prompts,
            sum(prompts.answers)           AS answers,
            sum(prompts.mention_answers)   AS mention_answers,
            sum(prompts.citation_answers)  AS citation_answers,
            sum(prompts.inverse_position)  AS inverse_position,
            sum(prompts.mentions)          AS mentions,
            sum(prompts.citations)         AS citations,
            sum(prompts.visibility)        AS visibility,
            sum(prompts.rivals_named)      AS rivals_named,
            sum(prompts.rivals_visibility) AS rivals_visibility,
            answerscope_score(answers, mention_answers, citation_answers, inverse_position) AS score,
            answerscope_margin(
                prompt_count,
                answers,
                score,
                sum(prompts.points * prompts.points),
                sum(prompts.points * prompts.answers),
                sum(prompts.answers * prompts.answers)) AS margin
        FROM prompts
        GROUP BY bucket
    )
SELECT
    bucket,
    answers,
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
    answerscope_round(score, 1)                                                      AS ai_visibility_score,
    if(prompt_count < 5, NULL, answerscope_round(greatest(0, score - margin), 1))    AS interval_low,
    if(prompt_count < 5, NULL, answerscope_round(least(100, score + margin), 1))     AS interval_high
FROM buckets
ORDER BY bucket
