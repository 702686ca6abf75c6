-- entity_visibility: the figures of the brand and of each live competitor over the same filtered answers, one row per group and entity.
-- The brand comes first. A competitor that no answer mentions or cites has zeros. Without groups the rows exist also without answers.
-- not_shown are runs whose surface had no answer. shown_pct is 100 × seen / (seen + not_shown), with Wilson's interval, NULL under 5 of
-- both; seen are the answers of the platforms that had none at least once in the window, whatever else is filtered.
-- rate_gap is the rate of the brand less that of the entity, paired by prompt: its verdict says where the brand is. NULL with prompts, since
-- nothing is paired within one.
WITH
    (
        SELECT groupArray((id, name, brand_id))
        FROM dimension_competitors FINAL
        WHERE organization_id = {organization_id:UUID}
          AND brand_id = {brand_id:UUID}
          AND NOT deleted
    ) AS live,
    (
        SELECT groupArray(slug)
        FROM
        (
            SELECT lower(platform) AS slug
            FROM answer_daily
            WHERE organization_id = {organization_id:UUID}
              AND brand_id = {brand_id:UUID}
              AND day BETWEEN {date_from:Date} AND {date_to:Date}
              AND not_shown != 0
            GROUP BY slug
            HAVING sum(not_shown) > 0
        )
    ) AS hiding,
    prompts AS
    (
        SELECT
            answerscope_group({group_by:String}, platform, model, region, topic_id) AS group_key,
            entity_id,
            prompt_id,
            sum(entity_prompt_daily.answers)          AS asked, -- only the brand's row, which every prompt has, has answers
            sum(entity_prompt_daily.not_shown)        AS not_shown,
            sumIf(entity_prompt_daily.answers, has(hiding, lower(platform))) AS seen,
            sum(entity_prompt_daily.mention_answers)  AS mention_answers,
            sum(entity_prompt_daily.citation_answers) AS citation_answers,
            sum(entity_prompt_daily.inverse_position) AS inverse_position,
            sum(entity_prompt_daily.positions)        AS positions,
            sum(entity_prompt_daily.mentions)         AS mentions,
            sum(entity_prompt_daily.citations)        AS citations,
            sum(entity_prompt_daily.visibility)       AS visibility,
            answerscope_points(mention_answers, citation_answers, inverse_position) AS points,
            sum(asked) OVER (PARTITION BY group_key, prompt_id) AS asked_of_prompt,
            sumIf(mention_answers, entity_id = {brand_id:UUID}) OVER (PARTITION BY group_key, prompt_id) AS brand_named
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
        GROUP BY group_key, entity_id, prompt_id
    ),
    entities AS
    (
        SELECT
            group_key,
            entity_id,
            countIf(asked > 0)                                                AS prompt_count,
            countIf(prompts.mention_answers + prompts.citation_answers > 0)   AS visible_prompts,
            sum(asked)                                                        AS answers,
            sum(prompts.not_shown)                                            AS not_shown,
            sum(prompts.seen)                                                 AS seen,
            sum(prompts.mention_answers)                                     AS mention_answers,
            sum(prompts.citation_answers)                                    AS citation_answers,
            sum(prompts.inverse_position)                                    AS inverse_position,
            sum(prompts.positions)                                           AS positions,
            sum(prompts.mentions)                                            AS mentions,
            sum(prompts.citations)                                           AS citations,
            sum(prompts.visibility)                                          AS visibility,
            sum(points * points)                                              AS yy,
            sum(points * asked_of_prompt)                                     AS yn,
            sum(asked * asked)                                                AS nn,
            10000 * sum(prompts.mention_answers * prompts.mention_answers)    AS mm, -- an answer that mentions it has 100 points
            100 * sum(prompts.mention_answers * asked_of_prompt)              AS mn,
            10000 * sum(prompts.mention_answers * brand_named)                AS mb
        FROM prompts
        GROUP BY group_key, entity_id
        UNION ALL -- without groups there is a row also without answers
        SELECT '', toUUID('00000000-0000-0000-0000-000000000000'), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
        WHERE {group_by:String} = ''
    ),
    measured AS
    (
        -- All have the answers and prompts of the brand's row; an entity without a row has zeros.
        SELECT
            group_key,
            entity.1 AS entity_id,
            entity.2 AS name,
            answers,
            not_shown,
            seen,
            prompt_count,
            arrayFirst(row -> row.1 = entity.1, found) AS own,
            own.2 AS visible_prompts,
            own.3 AS mention_answers,
            own.4 AS citation_answers,
            own.5 AS inverse_position,
            own.6 AS mentions,
            own.7 AS citations,
            own.8 AS visibility,
            answerscope_score(answers, mention_answers, citation_answers, inverse_position) AS score,
            own.9 AS positions,
            answerscope_margin(prompt_count, answers, score, own.10, own.11, nn) AS margin,
            answerscope_ratio(100 * mention_answers, answers) AS rate,
            answerscope_margin(prompt_count, answers, rate, own.12, own.13, nn) AS rate_margin,
            answerscope_ratio(100 * seen, seen + not_shown) AS shown,
            arrayFirst(row -> row.1 = {brand_id:UUID}, found) AS brand,
            if(notEmpty({prompts:Array(UUID)}), NULL, answerscope_ratio(100 * (brand.3 - mention_answers), answers)) AS gap,
            answerscope_margin(prompt_count, answers, gap, brand.12 - 2 * own.14 + own.12, brand.13 - own.13, nn) AS gap_margin
        FROM
        (
            SELECT
                group_key,
                max(entities.answers)      AS answers,
                max(entities.not_shown)    AS not_shown,
                max(entities.seen)         AS seen,
                max(entities.prompt_count) AS prompt_count,
                max(entities.nn)           AS nn,
                groupArray((entity_id, visible_prompts, mention_answers, citation_answers, inverse_position, mentions, citations, visibility, positions, yy, yn, mm, mn, mb)) AS found
            FROM entities
            GROUP BY group_key
        ) AS grouped
        ARRAY JOIN arrayPushFront(arrayFilter(rival -> rival.3 = {brand_id:UUID}, live), ({brand_id:UUID}, '', {brand_id:UUID})) AS entity
    )
SELECT
    group_key,
    entity_id,
    CAST(entity_id = {brand_id:UUID} AS Bool) AS is_brand,
    name,
    answers,
    not_shown,
    mention_answers,
    citation_answers,
    mentions,
    citations,
    prompt_count,
    visible_prompts,
    answerscope_round(answerscope_ratio(100 * visible_prompts, prompt_count), 1)     AS visibility_rate_pct,
    answerscope_round(answerscope_ratio(visibility, answers), 1)                     AS avg_visibility,
    answerscope_round(answerscope_ratio(inverse_position / 5354228880, answers), 4)  AS position_factor,
    answerscope_round(answerscope_ratio(positions, mention_answers), 1)              AS avg_position,
    answerscope_round(score, 1)                                                      AS ai_visibility_score,
    answerscope_within(notEmpty({prompts:Array(UUID)}), prompt_count, answers, score, margin, -1) AS interval_low,
    answerscope_within(notEmpty({prompts:Array(UUID)}), prompt_count, answers, score, margin, 1) AS interval_high,
    answerscope_round(rate, 1)                                                       AS mention_rate_pct,
    answerscope_within(notEmpty({prompts:Array(UUID)}), prompt_count, answers, rate, rate_margin, -1) AS mention_rate_low,
    answerscope_within(notEmpty({prompts:Array(UUID)}), prompt_count, answers, rate, rate_margin, 1) AS mention_rate_high,
    answerscope_round(shown, 1)                                                      AS shown_pct,
    answerscope_within(true, 0, seen + not_shown, shown, 0, -1)                      AS shown_low,
    answerscope_within(true, 0, seen + not_shown, shown, 0, 1)                       AS shown_high,
    if(answers = 0, NULL, rank() OVER (PARTITION BY group_key ORDER BY mention_answers DESC)) AS rank,
    answerscope_round(answerscope_ratio(100 * mentions, sum(mentions) OVER (PARTITION BY group_key)), 1) AS sov_pct,
    answerscope_round(gap, 1)                                                        AS rate_gap,
    answerscope_within_gap(prompt_count, gap, gap_margin, -1)                        AS rate_gap_low,
    answerscope_within_gap(prompt_count, gap, gap_margin, 1)                         AS rate_gap_high,
    answerscope_gap_verdict(rate_gap_low, rate_gap_high)                             AS rate_gap_verdict
FROM measured
WHERE {group_by:String} = '' OR answers + not_shown > 0
ORDER BY group_key, is_brand DESC, name
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0
