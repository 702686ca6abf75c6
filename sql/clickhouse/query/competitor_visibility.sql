-- competitor_visibility: the sums of each live competitor that the filtered answers name or cite, one row per bucket and competitor.
-- How many answers a bucket has in all is in brand_visibility.
WITH
    live AS
    (
        SELECT
            id,
            name
        FROM dimension_competitors FINAL
        WHERE organization_id = {organization_id:UUID}
          AND brand_id = {brand_id:UUID}
          AND NOT deleted
    ),
    prompts AS
    (
        SELECT
            answerscope_bucket({granularity:String}, day, {date_from:Date}) AS bucket,
            competitor_id,
            prompt_id,
            sum(competitor_prompt_daily.visible_answers)  AS visible_answers,
            sum(competitor_prompt_daily.mention_answers)  AS mention_answers,
            sum(competitor_prompt_daily.citation_answers) AS citation_answers,
            sum(competitor_prompt_daily.inverse_position) AS inverse_position,
            sum(competitor_prompt_daily.mentions)         AS mentions,
            sum(competitor_prompt_daily.citations)        AS citations,
            sum(competitor_prompt_daily.visibility)       AS visibility,
            sum(competitor_prompt_daily.visibility_named) AS visibility_named
        FROM competitor_prompt_daily
        WHERE organization_id = {organization_id:UUID}
          AND brand_id = {brand_id:UUID}
          AND day BETWEEN {date_from:Date} AND {date_to:Date}
          AND answerscope_matches({models:Array(String)}, model)
          AND answerscope_matches({regions:Array(String)}, region)
          AND answerscope_matches({topics:Array(UUID)}, answerscope_given(topic_id))
          AND answerscope_matches({branded:Array(Bool)}, branded)
        GROUP BY bucket, competitor_id, prompt_id
        HAVING visible_answers > 0
    )
SELECT
    bucket,
    competitor_id,
    any(live.name)                AS name,
    count()                       AS visible_prompts,
    sum(prompts.mention_answers)  AS mention_answers,
    sum(prompts.citation_answers) AS citation_answers,
    sum(prompts.inverse_position) AS inverse_position,
    sum(prompts.mentions)         AS mentions,
    sum(prompts.citations)        AS citations,
    sum(prompts.visibility)       AS visibility,
    sum(prompts.visibility_named) AS visibility_named
FROM prompts
INNER JOIN live ON live.id = prompts.competitor_id
GROUP BY bucket, competitor_id
ORDER BY bucket, competitor_id
