-- brands_standing: how often the filtered answers name each of some brands, and the live competitor that they name most often.
-- A brand without answers has no row. leader_id is nil if no answer names a competitor; of several the first by name. gap is the rate of
-- the brand less that of the leader, paired by prompt, as rate_gap of entity_visibility.
WITH
    prompts AS
    (
        SELECT
            brand_id,
            prompt_id,
            entity_id,
            sum(entity_prompt_daily.answers)         AS asked, -- only the brand's row, which every prompt has, has answers
            sum(entity_prompt_daily.mention_answers) AS named,
            sum(asked) OVER (PARTITION BY brand_id, prompt_id) AS asked_of_prompt,
            sumIf(named, entity_id = brand_id) OVER (PARTITION BY brand_id, prompt_id) AS brand_named
        FROM entity_prompt_daily
        WHERE organization_id = {organization_id:UUID}
          AND brand_id IN {brands:Array(UUID)}
          AND day BETWEEN {date_from:Date} AND {date_to:Date}
          AND answerscope_matches_code({platforms:Array(String)}, platform)
          AND answerscope_matches_code({models:Array(String)}, model)
          AND answerscope_matches_code({regions:Array(String)}, region)
          AND answerscope_matches({topics:Array(UUID)}, answerscope_given(topic_id))
          AND answerscope_matches({branded:Array(Bool)}, branded)
        GROUP BY brand_id, prompt_id, entity_id
    ),
    sums AS
    (
        SELECT
            brand_id,
            entity_id,
            rival.name                   AS name,
            sum(named)                   AS mention_answers,
            sum(named * named)           AS mm,
            sum(named * asked_of_prompt) AS mn,
            sum(named * brand_named)     AS mb,
            countIf(asked > 0)           AS prompt_count,
            sum(asked)                   AS answers,
            sum(asked * asked)           AS nn
        FROM prompts
        LEFT JOIN
        (
            SELECT brand_id AS brand, id, name
            FROM dimension_competitors FINAL
            WHERE organization_id = {organization_id:UUID}
              AND brand_id IN {brands:Array(UUID)}
              AND NOT deleted
        ) AS rival ON rival.brand = prompts.brand_id AND rival.id = entity_id
        WHERE entity_id IN (brand_id, rival.id)
        GROUP BY brand_id, entity_id, name
        ORDER BY brand_id
    ),
    -- formulas
    brands AS
    (
        SELECT
            brand_id,
            anyIf((sums.mention_answers, sums.mm, sums.mn), entity_id = brand_id) AS own,
            argMinIf(
                (entity_id, name, sums.mention_answers, sums.mm, sums.mn, mb),
                (-sums.mention_answers, name),
                entity_id != brand_id AND sums.mention_answers > 0) AS leader,
            max(sums.prompt_count) AS prompt_count,
            max(sums.answers)      AS answers,
            max(sums.nn)           AS nn,
            own.1                  AS mention_answers
        FROM sums
        GROUP BY brand_id
        HAVING answers > 0
    ),
    measured AS
    (
        -- An answer that names an entity has 100 points.
        SELECT *,
            [answerscope_ratio(100 * mention_answers, answers), answerscope_ratio(100 * (mention_answers - leader.3), answers)] AS means,
            arrayMap(
                (mean, yy, yn, lowest) -> answerscope_wilson_interval(
                    false, prompt_count, answers, mean, answerscope_margin(prompt_count, answers, mean, yy, yn, nn), lowest),
                means, [10000 * own.2, 10000 * (own.2 - 2 * leader.6 + leader.4)], [100 * own.3, 100 * (own.3 - leader.5)], [0, -100]) AS intervals
        FROM brands
    )
SELECT
    brand_id,
    answers,
    mention_answers,
    answerscope_round(means[1], 1)                                         AS mention_rate_pct,
    intervals[1][1]                                                        AS mention_rate_low,
    intervals[1][2]                                                        AS mention_rate_high,
    leader.1                                                               AS leader_id,
    leader.2                                                               AS leader_name,
    answerscope_round(answerscope_ratio(100 * leader.3, answers), 1)       AS leader_rate_pct,
    answerscope_round(means[2], 1)                                         AS rate_gap,
    intervals[2][1]                                                        AS rate_gap_low,
    intervals[2][2]                                                        AS rate_gap_high,
    answerscope_gap_verdict(rate_gap_low, rate_gap_high)                   AS rate_gap_verdict
FROM measured
ORDER BY brand_id
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0
