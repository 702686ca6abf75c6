-- brands_to_judge: active brands that were not judged on UTC day $1, and whose answers of it are complete: all jobs with
-- a slot in it, or before it, have ended, no platform is to be asked for it still, and no reread is at work.
SELECT
    b.id,
    b.organization_id,
    b.name,
    b.slug,
    coalesce(b.industry, '') AS industry,
    coalesce(b.region, '') AS region,
    coalesce(b.language, '') AS language,
    b.is_active,
    b.created_at
FROM public.brands AS b
WHERE b.is_active
  AND NOT EXISTS (SELECT FROM private.judged_days AS d WHERE d.brand_id = b.id AND d.day = $1::date)
  AND NOT EXISTS (
      SELECT
      FROM public.tracking_jobs AS j
      JOIN public.tracking_runs AS r ON r.job_id = j.id
      WHERE j.brand_id = b.id
        AND j.status IN ('waiting', 'active')
        AND r.slot < ($1::date + 1)::timestamp AT TIME ZONE 'UTC')
  AND NOT EXISTS (
      SELECT
      FROM public.brand_platforms AS p
      WHERE p.brand_id = b.id
        AND p.is_enabled
        AND p.check_frequency <> 'manual'
        AND p.next_check_at < ($1::date + 1)::timestamp AT TIME ZONE 'UTC')
  AND NOT EXISTS (
      SELECT
      FROM private.default_checks AS d
      WHERE d.brand_id = b.id
        AND d.last_checked_at IS NOT NULL
        AND d.next_check_at < ($1::date + 1)::timestamp AT TIME ZONE 'UTC'
        AND NOT EXISTS (SELECT FROM public.brand_platforms AS p WHERE p.brand_id = b.id))
  AND NOT EXISTS (
      SELECT FROM private.rereads AS r WHERE r.brand_id = b.id AND (r.asked_at IS NOT NULL OR r.finished_at IS NULL))
-- A brand of each organization, then the second ones: many brands of one hold up no other's.
ORDER BY
    row_number() OVER (PARTITION BY b.organization_id ORDER BY b.id),
    b.organization_id
