-- advice_texts: the texts of a brand's answers on some days, by day and id, with whether the current reading names the brand or a live competitor.
-- The text is on an id's first row. The rows of an id are neighbours in the order of the key, so the server has few of them in memory.
SELECT
    toUUID(net.id) AS id,
    prompt_id,
    prompt_text,
    platform,
    language,
    text,
    named.1 > 0 AS names_brand,
    named.1 > 0 OR arrayExists((rival, mentions) -> mentions > 0 AND has({competitors:Array(UUID)}, rival), named.2, named.3) AS names_tracked
FROM
(
    SELECT
        organization_id,
        brand_id,
        day,
        id,
        any(answers.prompt_id) AS prompt_id,
        any(answers.prompt_text) AS prompt_text,
        any(answers.platform) AS platform,
        any(answers.language) AS language,
        argMinIf(answers.text, (answers.revision, answers.extract_version), sign = 1) AS text,
        argMaxIf((answers.mention_count, answers.competitors.id, answers.competitors.mention_count),
            (answers.revision, answers.extract_version), sign = 1) AS named
    FROM answers
    WHERE organization_id = {organization:UUID}
      AND brand_id = {brand:UUID}
      AND day >= {first_day:Date}
      AND day <= {last_day:Date}
      AND answered
      AND NOT endsWith(answers.platform, '-shopping')
    GROUP BY organization_id, brand_id, day, id
    HAVING sum(sign) > 0
) AS net
ORDER BY day, net.id
SETTINGS optimize_aggregation_in_order = 1
