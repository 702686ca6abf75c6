-- suggestions: suggestions of a brand in some states at $3, of some kinds (none: all), by kind, score and key, at most
-- $9 after a position. One that was added and no longer holds is closed; a new one that no longer holds is left out.
SELECT
    id,
    kind,
    key,
    text,
    coalesce(reason, '') AS reason,
    score::float8 AS score,
    state,
    origin,
    evidence,
    added_prompt_id,
    created_at,
    expires_at
FROM public.suggestions AS s
CROSS JOIN LATERAL (
    SELECT CASE WHEN expires_at <= $3::timestamptz AND status = 'new' THEN 'gone'
                WHEN expires_at <= $3 AND status = 'added' THEN 'closed'
                ELSE status END AS state
) AS states
WHERE organization_id = $1
  AND brand_id = $2
  AND state = ANY ($4::text[])
  AND (kind = ANY ($5::text[]) OR cardinality($5) = 0)
  AND (kind, -coalesce(score, -1), key, id) > ($6::text, $7::numeric, $8::text, $10::uuid)
ORDER BY kind, -coalesce(score, -1), key, id
LIMIT $9
