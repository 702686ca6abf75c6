-- entity_visibility: the figures of the brand and of each live competitor over the same filtered answers, one row per entity.
-- A competitor that no answer names or cites has its row of zeros, and without answers everybody has.
-- The brand's row comes first, under its brand_id. interval_low and interval_high are NULL under 5 prompts.
WITH
    (
        SELECT groupArray((id, name))
        FROM dimension_competitors FINAL
        WHERE organization_id = {organization_id:UUID}
          AND brand_id = {brand_id:UUID}
          AND NOT deleted
    ) AS live,
    asked AS
    (
        SELECT
            prompt_id,
            sum(prompt_daily.answers)          AS answers,
            sum(prompt_daily.visible_answers)  AS visible_answers,
            sum(prompt_daily.mention_answers)  AS mention_answers,
            sum(prompt_daily.citation_answers) AS citation_answers,
            sum(prompt_daily.inverse_position) AS inverse_position,
            sum(prompt_daily.mentions)         AS mentions,
            sum(prompt_daily.citations)        AS citations,
            sum(prompt_daily.visibility)       AS visibility
        FROM prompt_daily
        WHERE organization_id = {organization_id:UUID}
          AND brand_id = {brand_id:UUID}
          AND day BETWEEN {date_from:Date} AND {date_to:Date}
          AND answerscope_matches({models:Array(String)}, model)
          AND answerscope_matches({regions:Array(String)}, region)
          AND answerscope_matches({topics:Array(UUID)}, answerscope_given(topic_id))
          AND answerscope_matches({branded:Array(Bool)}, branded)
        GROUP BY prompt_id
        HAVING answers > 0
        UNION ALL
        SELECT
            toUUID('00000000-0000-0000-0000-000000000000'), -- no prompt: it is there so that everybody has a row
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0
    ),
    facts AS
    (
        -- Every entity meets every prompt, so that all are measured over the same answers.
        SELECT
            prompt_id,
            answers,
            arrayJoin(arrayPushFront(live, ({brand_id:UUID}, ''))) AS entity,
            entity.1                                               AS entity_id,
            entity.2                                               AS name,
            entity_id = {brand_id:UUID}                            AS own,
            if(own, asked.visible_answers, 0)                      AS visible_answers,
            if(own, asked.mention_answers, 0)                      AS mention_answers,
            if(own, asked.citation_answers, 0)                     AS citation_answers,
            if(own, asked.inverse_position, 0)                     AS inverse_position,
            if(own, asked.mentions, 0)                             AS mentions,
            if(own, asked.citations, 0)                            AS citations,
            if(own, asked.visibility, 0)                           AS visibility
        FROM asked
        UNION ALL
        SELECT
            prompt_id,
            0,
            (competitor_id, ''),
            competitor_id,
            '',
            false,
            visible_answers,
            mention_answers,
            citation_answers,
            inverse_position,
            mentions,
            citations,
            visibility
        FROM competitor_prompt_daily
        WHERE organization_id = {organization_id:UUID}
          AND brand_id = {brand_id:UUID}
          AND day BETWEEN {date_from:Date} AND {date_to:Date}
          AND answerscope_matches({models:Array(String)}, model)
          AND answerscope_matches({regions:Array(String)}, region)
          AND answerscope_matches({topics:Array(UUID)}, answerscope_given(topic_id))
          AND answerscope_matches({branded:Array(Bool)}, branded)
          AND has(live.1, competitor_id)
    ),
    prompts AS
    (
        SELECT
            entity_id,
            prompt_id,
            max(facts.name)             AS name,
            sum(facts.answers)          AS answers,
            sum(facts.visible_answers)  AS visible_answers,
            sum(facts.mention_answers)  AS mention_answers,
            sum(facts.citation_answers) AS citation_answers,
            sum(facts.inverse_position) AS inverse_position,
            sum(facts.mentions)         AS mentions,
            sum(facts.citations)        AS citations,
            sum(facts.visibility)       AS visibility,
            answerscope_points(mention_answers, citation_answers, inverse_position) AS points
        FROM facts
        GROUP BY entity_id, prompt_id
    ),
    entities AS
    (
        SELECT
            entity_id,
            max(prompts.name)             AS name,
            countIf(prompts.answers > 0)  AS prompt_count,
            countIf(visible_answers > 0)  AS visible_prompts,
            sum(prompts.answers)          AS answers,
            sum(prompts.mention_answers)  AS mention_answers,
            sum(prompts.citation_answers) AS citation_answers,
            sum(prompts.inverse_position) AS inverse_position,
            sum(prompts.mentions)         AS mentions,
            sum(prompts.citations)        AS citations,
            sum(prompts.visibility)       AS visibility,
            answerscope_score(answers, mention_answers, citation_answers, inverse_position) AS score,
            answerscope_margin(
                prompt_count,
                answers,
                score,
                sum(prompts.points * prompts.points),
                sum(prompts.points * prompts.answers),
                sum(prompts.answers * prompts.answers)) AS margin
        FROM prompts
        GROUP BY entity_id
    )
SELECT
    entity_id,
    CAST(entity_id = {brand_id:UUID} AS Bool) AS is_brand,
    name,
    answers,
    mention_answers,
    citation_answers,
    mentions,
    citations,
    prompt_count,
    visible_prompts,
    answerscope_round(answerscope_ratio(100 * visible_prompts, prompt_count), 1)     AS visibility_rate_pct,
    answerscope_round(answerscope_ratio(visibility, answers), 1)                     AS avg_visibility,
    answerscope_round(answerscope_ratio(inverse_position / 5354228880, answers), 4)  AS position_factor,
    answerscope_round(score, 1)                                                      AS ai_visibility_score,
    if(prompt_count < 5, NULL, answerscope_round(greatest(0, score - margin), 1))    AS interval_low,
    if(prompt_count < 5, NULL, answerscope_round(least(100, score + margin), 1))     AS interval_high
FROM entities
ORDER BY is_brand DESC, name
