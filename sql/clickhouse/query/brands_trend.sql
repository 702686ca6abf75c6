-- brands_trend: how often the filtered answers name each of some brands, one row per brand and day that have answers.
WITH
    prompts AS
    (
        SELECT
            brand_id,
            day,
            prompt_id,
            sum(brand_prompt_daily.answers)         AS asked,
            sum(brand_prompt_daily.mention_answers) AS named
        FROM brand_prompt_daily
        WHERE organization_id = {organization_id:UUID}
          AND brand_id IN {brands:Array(UUID)}
          AND day BETWEEN {date_from:Date} AND {date_to:Date}
          AND answerscope_matches_code({platforms:Array(String)}, platform)
          AND answerscope_matches_code({models:Array(String)}, model)
          AND answerscope_matches_code({regions:Array(String)}, region)
          AND answerscope_matches({topics:Array(UUID)}, answerscope_given(topic_id))
          AND answerscope_matches({branded:Array(Bool)}, branded)
        GROUP BY brand_id, day, prompt_id
    ),
    sums AS
    (
        SELECT
            brand_id,
            day,
            sum(asked)         AS answers,
            countIf(asked > 0) AS prompt_count,
            sum(asked * asked) AS nn,
            sum(named)         AS mention_answers,
            sum(named * named) AS mm,
            sum(named * asked) AS mn
        FROM prompts
        GROUP BY brand_id, day
        HAVING answers > 0
        ORDER BY brand_id, day
    ),
    -- formulas
    answerscope_ratio(100 * mention_answers, answers) AS rate, -- an answer that names the brand has 100 points
    answerscope_margin(prompt_count, answers, rate, 10000 * mm, 100 * mn, nn) AS margin,
    answerscope_wilson_interval(false, prompt_count, answers, rate, margin, 0) AS ends
SELECT
    brand_id,
    day,
    answers,
    answerscope_round(rate, 1) AS mention_rate_pct,
    ends[1]                    AS mention_rate_low,
    ends[2]                    AS mention_rate_high
FROM sums
ORDER BY brand_id, day
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0
