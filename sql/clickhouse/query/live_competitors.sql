-- live_competitors: the live competitors of a brand, by name in code-point order.
SELECT id, name
FROM dimension_competitors FINAL
WHERE organization_id = {organization_id:UUID}
  AND brand_id = {brand_id:UUID}
  AND NOT deleted
ORDER BY name, id
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0
