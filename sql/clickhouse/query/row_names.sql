-- row_names: the names of a brand's prompts, live topics and live competitors; a prompt's name is its text.
SELECT
    kind,
    toString(id) AS value,
    name
FROM
(
    SELECT 'prompt' AS kind, id, text AS name
    FROM dimension_prompts FINAL
    WHERE organization_id = {organization_id:UUID} AND brand_id = {brand_id:UUID}
    UNION ALL
    SELECT 'topic', id, name
    FROM dimension_topics FINAL
    WHERE organization_id = {organization_id:UUID} AND brand_id = {brand_id:UUID} AND NOT deleted
    UNION ALL
    SELECT 'competitor', id, name
    FROM dimension_competitors FINAL
    WHERE organization_id = {organization_id:UUID} AND brand_id = {brand_id:UUID} AND NOT deleted
) AS named
ORDER BY kind, name, value
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0
