-- share_of_voice: the brand's part of all mentions of it and its live competitors, by bucket, platform and requested model.
-- The row with all_platforms sums up its bucket. Every platform and model that has answers has a row; sov_pct is NULL without mentions.
-- granularity is day, week (ISO Mondays) or window (one bucket, dated date_from).
WITH
    facts AS
    (
        SELECT
            day,
            platform,
            model,
            answers,
            mentions AS brand_mentions,
            0        AS competitor_mentions
        FROM answer_daily
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
            platform,
            model,
            0,
            0,
            mentions
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
    )
SELECT
    answerscope_bucket({granularity:String}, day, {date_from:Date}) AS bucket,
    CAST(grouping(platform) AS Bool) AS all_platforms,
    platform,
    model,
    sum(facts.answers)             AS answers,
    sum(facts.brand_mentions)      AS brand_mentions,
    sum(facts.competitor_mentions) AS competitor_mentions,
    answerscope_round(answerscope_ratio(100 * brand_mentions, brand_mentions + competitor_mentions), 1) AS sov_pct
FROM facts
GROUP BY GROUPING SETS ((bucket), (bucket, platform, model))
HAVING answers > 0
ORDER BY bucket, all_platforms DESC, platform, model
