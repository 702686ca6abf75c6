-- visibility_trend: one row per day, or ISO week, that has answers; granularity is day or week.
-- Serves GET /api/v1/visibility-trend. The score and its interval are told for days only.
WITH
    rivals AS
    (
        SELECT
            bucket,
            sum(c.visibility_named) AS visibility,
            sum(c.mention_answers)  AS pairs
        FROM competitor_visibility(
            organization_id = {organization_id:UUID},
            brand_id = {brand_id:UUID},
            date_from = {date_from:Date},
            date_to = {date_to:Date},
            models = {models:Array(String)},
            regions = {regions:Array(String)},
            topics = {topics:Array(UUID)},
            branded = {branded:Array(Bool)},
            granularity = {granularity:String}) AS c
        GROUP BY bucket
    ),
    changes AS
    (
        SELECT DISTINCT bucket
        FROM model_changes(
            organization_id = {organization_id:UUID},
            brand_id = {brand_id:UUID},
            date_from = {date_from:Date},
            date_to = {date_to:Date},
            models = {models:Array(String)},
            regions = {regions:Array(String)},
            topics = {topics:Array(UUID)},
            branded = {branded:Array(Bool)},
            granularity = {granularity:String})
    )
SELECT
    brand.bucket                                                                AS bucket,
    brand.answers                                                               AS answers,
    brand.prompt_count                                                          AS prompt_count,
    if({granularity:String} = 'day', brand.ai_visibility_score, NULL)           AS ai_visibility_score,
    if({granularity:String} = 'day', brand.interval_low, NULL)                  AS interval_low,
    if({granularity:String} = 'day', brand.interval_high, NULL)                 AS interval_high,
    brand.avg_visibility                                                        AS avg_visibility,
    brand.mentions                                                              AS mentions,
    brand.citations                                                             AS citations,
    answerscope_round(answerscope_ratio(rivals.visibility, rivals.pairs), 1)    AS avg_competitor_score,
    CAST(brand.bucket IN (SELECT bucket FROM changes) AS Bool)                  AS model_changed
FROM brand_visibility(
        organization_id = {organization_id:UUID},
        brand_id = {brand_id:UUID},
        date_from = {date_from:Date},
        date_to = {date_to:Date},
        models = {models:Array(String)},
        regions = {regions:Array(String)},
        topics = {topics:Array(UUID)},
        branded = {branded:Array(Bool)},
        granularity = {granularity:String}) AS brand
LEFT JOIN rivals ON rivals.bucket = brand.bucket
ORDER BY bucket
