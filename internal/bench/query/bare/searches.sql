-- searches: how often answers search for each query.
SELECT
    query,
    sum(sign)
FROM answers
ARRAY JOIN search_queries AS query
WHERE organization_id = {organization_id:UUID}
  AND brand_id IN {brands:Array(UUID)}
  AND day BETWEEN {date_from:Date} AND {date_to:Date}
GROUP BY query
