-- scheduled_platforms: the scheduled platforms of active brands, of one organization or of all: those that may be due,
-- or all.
SELECT
    p.id,
    p.platform,
    coalesce(p.model, '') AS model,
    p.check_frequency,
    p.last_checked_at,
    p.brand_id,
    p.organization_id,
    o.time_zone
FROM public.brand_platforms AS p
JOIN public.brands AS b ON b.id = p.brand_id
JOIN public.organizations AS o ON o.id = p.organization_id
WHERE p.is_enabled
  AND p.check_frequency <> 'manual'
  AND b.is_active
  AND ($1::uuid IS NULL OR p.organization_id = $1)
  AND ($2::bool OR p.next_check_at IS NULL OR p.next_check_at <= $3)
ORDER BY p.brand_id, p.platform, p.model
