-- brand_schedules: when the active brands of an organization are asked next, and how often, by their scheduled platforms.
SELECT
    p.brand_id,
    min(p.next_check_at) AS next_check_at,
    min(CASE p.check_frequency WHEN 'hourly' THEN 1 WHEN 'daily' THEN 24 WHEN 'weekly' THEN 168 ELSE 744 END) AS hours,
    min(p.created_at) AS created_at
FROM public.brand_platforms AS p
JOIN public.brands AS b ON b.id = p.brand_id
WHERE p.organization_id = $1
  AND p.is_enabled
  AND p.check_frequency <> 'manual'
  AND b.is_active
GROUP BY p.brand_id
ORDER BY p.brand_id
