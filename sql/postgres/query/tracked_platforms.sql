-- tracked_platforms: the platforms of a brand, with their schedule.
SELECT
    platform,
    coalesce(model, '') AS model,
    check_frequency,
    is_enabled,
    last_checked_at,
    next_check_at
FROM public.brand_platforms
WHERE brand_id = $1
ORDER BY
    platform,
    model NULLS FIRST
