-- filter_values: the values for filters: platforms, requested models, regions and topics of the filtered runs.
-- kind is platform, model, region or topic; value is the code in lower case, of a topic its id. A run without a value has no row.
SELECT
    kind,
    value,
    if(kind != 'topic', value, if(topic.deleted, NULL, nullIf(topic.name, ''))) AS name
FROM
(
    SELECT
        multiIf(NOT grouping(lower(platform)), 'platform', NOT grouping(lower(model)), 'model', NOT grouping(lower(region)), 'region', 'topic') AS kind,
        multiIf(
            kind = 'platform', toString(lower(platform)),
            kind = 'model', toString(lower(model)),
            kind = 'region', toString(lower(region)),
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
    GROUP BY GROUPING SETS ((lower(platform)), (lower(model)), (lower(region)), (topic_id))
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
