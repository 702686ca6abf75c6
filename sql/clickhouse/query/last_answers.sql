-- last_answers: when each of some brands was last answered, without shopping platforms.
SELECT
    brand_id,
    max(answered_at) AS answered_at
FROM answers
WHERE organization_id = {organization_id:UUID}
  AND brand_id IN {brands:Array(UUID)}
  AND (brand_id, day) IN
  (
      SELECT brand_id, max(day)
      FROM brand_prompt_daily
      WHERE organization_id = {organization_id:UUID}
        AND brand_id IN {brands:Array(UUID)}
        AND brand_prompt_daily.answers > 0
      GROUP BY brand_id
  )
  AND NOT given_up
  AND NOT endsWith(platform, '-shopping')
GROUP BY brand_id
ORDER BY brand_id
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0
