-- brands_cost: what the runs of some brands cost, in US dollars; those of days from date_from to date_to.
SELECT
    brand_id,
    sum(answers.cost_usd) AS cost_usd -- on an answer's first row alone
FROM answers
WHERE organization_id = {organization_id:UUID}
  AND brand_id IN {brands:Array(UUID)}
  AND day BETWEEN {date_from:Date} AND {date_to:Date}
GROUP BY brand_id
ORDER BY brand_id
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0
