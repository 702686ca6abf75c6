-- rereads: the state of every reread, of one organization, or one brand, or all; unfinished ones first.
SELECT
    o.slug AS organization,
    b.slug AS brand,
    r.brand_id,
    CASE
        WHEN r.asked_at IS NOT NULL THEN 'waiting'
        WHEN r.finished_at IS NULL THEN 'reading'
        WHEN r.last_error IS NOT NULL THEN 'incomplete'
        ELSE 'done'
    END AS state,
    r.revision,
    r.extract_version,
    r.done,
    r.total,
    r.left_over,
    coalesce(to_char(r.first_day, 'YYYY-MM-DD'), '') AS first_day,
    coalesce(to_char(r.last_day, 'YYYY-MM-DD'), '') AS last_day,
    r.asked_at,
    r.due_at,
    r.started_at,
    r.finished_at,
    coalesce(r.last_error, '') AS last_error
FROM private.rereads AS r
JOIN public.brands AS b ON b.id = r.brand_id
JOIN public.organizations AS o ON o.id = r.organization_id
WHERE ($1::uuid IS NULL OR r.organization_id = $1)
  AND ($2::uuid IS NULL OR r.brand_id = $2)
ORDER BY r.due_at IS NULL, r.urgent DESC, coalesce(r.finished_at, r.asked_at) DESC, o.slug, b.slug
