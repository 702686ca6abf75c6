-- filter_values: the platforms, requested models, regions and topics of the filtered runs: what a filter may name.
-- kind is platform, model, region or topic; value is what is stored, of a topic its id. Runs without one give no row.
SELECT
    kind,
    value,
    if(kind != 'topic', value, if(topic.deleted, NULL, nullIf(topic.name, ''))) AS name
FROM
(
    SELECT
        multiIf(NOT grouping(platform), 'platform', NOT grouping(model), 'model', NOT grouping(region), 'region', 'topic') AS kind,
        multiIf(
            kind = 'platform', toString(platform),
            kind = 'model', toString(model),
            kind = 'region', toString(region),
            ifNull(toString(answerscope_given(topic_id)), '')) AS value,
        topic_id
    FROM answer_daily
    WHERE organization_id = {organization_id:UUID}
      AND brand_id = {brand_id:UUID}
      AND day BETWEEN {date_from:Date} AND {date_to:Date}
      AND answerscope_matches_code({platforms:Array(String)}, platform)
      AND answerscope_matches_code({models:Array(String)}, model)
      AND answerscope_matches_code({regions:Array(String)}, region)
      AND answerscope_matches({topics:Array(UUID)}, answerscope_given(topic_id))
      AND answerscope_matches({branded:Array(Bool)}, branded)
    GROUP BY GROUPING SETS ((platform), (model), (region), (topic_id))
    HAVING sum(answer_daily.runs) > 0 AND value != ''
) AS present
LEFT JOIN
(
    SELECT
        id,
        name,
        deleted
    FROM dimension_topics FINAL
    WHERE organization_id = {organization_id:UUID}
      AND brand_id = {brand_id:UUID}
) AS topic ON topic.id = present.topic_id
ORDER BY kind, name, value
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0
