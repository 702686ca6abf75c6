-- new_sources: domains that answers cite from date_from to date_to, and none did from before_from on before that, by answers that cite them.
SELECT
    any(citation_daily.domain) AS domain,
    sumIf(domain_answers, day >= {date_from:Date}) AS citing_answers
FROM citation_daily
WHERE organization_id = {organization_id:UUID}
  AND brand_id = {brand_id:UUID}
  AND day BETWEEN {before_from:Date} AND {date_to:Date}
  AND url != ''
GROUP BY citation_daily.domain
HAVING citing_answers > 0 AND sumIf(citations, day < {date_from:Date}) = 0
ORDER BY citing_answers DESC, domain
LIMIT {limit:UInt32}
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0
