-- brand_schedules: when the active brands of an organization are asked next, and how often, by each of their scheduled
-- platforms. Shopping platforms, which give no answers, are left out. A brand without platforms has the schedule of the
-- default ones once it was asked there.
SELECT
    p.brand_id,
    p.next_check_at,
    CASE p.check_frequency WHEN 'hourly' THEN 1 WHEN 'daily' THEN 24 WHEN 'weekly' THEN 168 ELSE 744 END AS hours,
    p.scheduled_at
FROM public.brand_platforms AS p
JOIN public.brands AS b ON b.id = p.brand_id
WHERE p.organization_id = $1
  AND p.is_enabled
  AND p.check_frequency <> 'manual'
  AND p.platform NOT LIKE '%-shopping'
  AND b.is_active
UNION ALL
SELECT
    b.id,
    d.next_check_at,
    24,
    d.created_at
FROM private.default_checks AS d
JOIN public.brands AS b ON b.id = d.brand_id
WHERE b.organization_id = $1
  AND b.is_active
  AND d.last_checked_at IS NOT NULL
  AND NOT EXISTS (SELECT FROM public.brand_platforms AS p WHERE p.brand_id = b.id)
ORDER BY brand_id, next_check_at
