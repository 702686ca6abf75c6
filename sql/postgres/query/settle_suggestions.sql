-- settle_suggestions: applies edits of a brand to its suggestions at $3. A name that is tracked now, among the folded $2,
-- was added; a gap whose prompt is deleted or not asked any more, and any row whose rival is deleted, has expired.
UPDATE public.suggestions AS s
SET
    status = CASE WHEN edited.is_added THEN 'added' ELSE s.status END,
    expires_at = CASE WHEN edited.is_lost THEN $3::timestamptz ELSE s.expires_at END
FROM (
    SELECT
        id,
        status = 'new' AND kind IN ('competitor', 'alias') AND key = ANY ($2::text[]) AS is_added,
        expires_at > $3::timestamptz
            AND (kind = 'gap' AND NOT EXISTS (
                     SELECT FROM public.prompts AS p WHERE p.brand_id = $1 AND p.id::text = f.key AND p.is_active)
                 OR evidence #> '{rival,id}' IS NOT NULL AND NOT EXISTS (
                     SELECT
                     FROM public.competitors AS c
                     WHERE c.brand_id = $1
                       AND c.id::text = f.evidence #>> '{rival,id}')) AS is_lost
    FROM public.suggestions AS f
    WHERE brand_id = $1::uuid
      AND origin = 'computed'
      AND status <> 'dismissed'
) AS edited
WHERE s.id = edited.id
  AND (edited.is_added OR edited.is_lost)
