-- stale_results: results of a brand by an earlier reader than $2, behind one of them.
SELECT
    id,
    organization_id
FROM public.prompt_results
WHERE brand_id = $1
  AND extract_version < $2
  AND id > $3
ORDER BY id
LIMIT $4
