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
    days AS
    (
        SELECT
            brand_id,
            day,
            sum(asked)                              AS answers,
            countIf(asked > 0)                      AS prompt_count,
            answerscope_ratio(100 * sum(named), answers) AS rate,
            answerscope_margin(prompt_count, answers, rate, 10000 * sum(named * named), 100 * sum(named * asked), sum(asked * asked)) AS margin,
            answerscope_wilson_interval(false, prompt_count, answers, rate, margin, 0) AS ends
        FROM prompts
        GROUP BY brand_id, day
        HAVING answers > 0
    )
SELECT
    brand_id,
    day,
    answers,
    answerscope_round(rate, 1) AS mention_rate_pct,
    ends[1]                    AS mention_rate_low,
    ends[2]                    AS mention_rate_high
FROM days
ORDER BY brand_id, day
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0
