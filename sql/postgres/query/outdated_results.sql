-- outdated_results: results of a brand by extractors before $2, newest first, after one of them ($3, $4), in the order
-- of the brand's index, which includes the extract version.
SELECT
    id,
    organization_id,
    created_at
FROM public.prompt_results
WHERE brand_id = $1
  AND extract_version < $2
  AND (created_at, id) < ($3, $4)
ORDER BY created_at DESC, id DESC
LIMIT $5
