-- prompt_performance: a brand's figures by prompt, for the prompts with answers in the window; ties are sorted by prompt_id as text.
-- Sorted by change, the prompts of moved have changes, any other has 0. At most limit after prompt after_prompt, whose sorted_by was after; from the first on if that is ''.
WITH
    prompts AS
    (
        WITH entity_id = brand_id AS own
        SELECT
            prompt_id,
            sum(entity_prompt_daily.answers)                     AS answers,
            CAST(sumIf(entity_prompt_daily.answers, entity_prompt_daily.branded) > 0 AS Bool) AS branded,
            sumIf(entity_prompt_daily.mention_answers, own)      AS mention_answers,
            sumIf(entity_prompt_daily.citation_answers, own)     AS citation_answers,
            sumIf(entity_prompt_daily.inverse_position, own)     AS inverse_position,
            sumIf(entity_prompt_daily.positions, own)            AS positions,
            sumIf(entity_prompt_daily.mentions, own)             AS mentions,
            sumIf(entity_prompt_daily.citations, own)            AS citations,
            sumIf(entity_prompt_daily.visibility, own)           AS visibility,
            sumIf(entity_prompt_daily.mention_answers, NOT own)  AS rivals_named,
            sumIf(entity_prompt_daily.visibility_named, NOT own) AS rivals_visibility
        FROM entity_prompt_daily
        WHERE organization_id = {organization_id:UUID}
          AND brand_id = {brand_id:UUID}
          AND day BETWEEN {date_from:Date} AND {date_to:Date}
          AND answerscope_matches_code({platforms:Array(String)}, platform)
          AND answerscope_matches_code({models:Array(String)}, model)
          AND answerscope_matches_code({regions:Array(String)}, region)
          AND answerscope_matches({topics:Array(UUID)}, answerscope_given(topic_id))
          AND answerscope_matches({branded:Array(Bool)}, entity_prompt_daily.branded)
          AND (own OR (organization_id, brand_id, entity_id) GLOBAL IN (
              SELECT organization_id, brand_id, id
              FROM dimension_competitors FINAL
              WHERE organization_id = {organization_id:UUID}
                AND brand_id = {brand_id:UUID}
                AND NOT deleted))
        GROUP BY prompt_id
        HAVING answers > 0
    ),
    sorted AS
    (
        SELECT *,
            multiIf(
                {sort_by:String} = 'mentions', toFloat64(mentions),
                {sort_by:String} = 'citations', toFloat64(citations),
                {sort_by:String} = 'appearances', toFloat64(mention_answers),
                {sort_by:String} = 'change', {changes:Array(Float64)}[indexOf({moved:Array(UUID)}, prompt_id)],
                answerscope_round(answerscope_ratio(if({sort_by:String} = 'rate', 100 * mention_answers, visibility), answers), 1)) AS sorted_by,
            if({order:String} = 'asc', 1, -1) AS direction
        FROM prompts
    ),
    sums AS
    (
        SELECT
            sorted.* EXCEPT (direction),
            prompt.text                                     AS prompt_text,
            if(topic.deleted, NULL, nullIf(topic.name, '')) AS topic_name
        FROM sorted
        LEFT JOIN
        (
            SELECT id, text, topic_id
            FROM dimension_prompts FINAL
            WHERE organization_id = {organization_id:UUID}
              AND brand_id = {brand_id:UUID}
        ) AS prompt ON prompt.id = sorted.prompt_id
        LEFT JOIN
        (
            SELECT id, name, deleted
            FROM dimension_topics FINAL
            WHERE organization_id = {organization_id:UUID}
              AND brand_id = {brand_id:UUID}
        ) AS topic ON topic.id = prompt.topic_id
        WHERE {after_prompt:String} = ''
           OR (direction * assumeNotNull(sorted_by), toString(prompt_id)) > (direction * {after:Float64}, {after_prompt:String})
        ORDER BY direction * sorted_by, toString(prompt_id)
        LIMIT {limit:UInt32}
    ),
    -- formulas
    answerscope_points(mention_answers, citation_answers, inverse_position) AS points,
    if(answers < 5, NULL, answers) AS interval_answers -- NULL: too few for an interval
SELECT
    prompt_id,
    prompt_text,
    topic_name,
    answers,
    mention_answers,
    mentions,
    citations,
    answerscope_round(answerscope_ratio(visibility, answers), 1)                                AS avg_visibility,
    answerscope_round(answerscope_ratio(rivals_visibility, rivals_named), 1)                    AS avg_competitor_score,
    answerscope_round(answerscope_score(answers, mention_answers, citation_answers, inverse_position), 1) AS ai_visibility_score,
    answerscope_round(answerscope_wilson(points / 100, interval_answers, -1.96), 1)             AS interval_low,
    answerscope_round(answerscope_wilson(points / 100, interval_answers, 1.96), 1)              AS interval_high,
    answerscope_round(answerscope_ratio(100 * mention_answers, answers), 1)                     AS mention_rate_pct,
    answerscope_round(answerscope_wilson(mention_answers, interval_answers, -1.96), 1)          AS mention_rate_low,
    answerscope_round(answerscope_wilson(mention_answers, interval_answers, 1.96), 1)           AS mention_rate_high,
    branded,
    answerscope_round(answerscope_ratio(positions, mention_answers), 1)                         AS avg_position,
    sorted_by
FROM sums
ORDER BY if({order:String} = 'asc', 1, -1) * sorted_by, toString(prompt_id)
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0
