-- tracking_spending: the runs of the jobs of some brands by brand, UTC day and platform, those that were given up, and
-- the cost in US dollars. The day is the one on which the job was started, as in budgets; cancelled runs count nowhere.
SELECT
    j.brand_id,
    (j.created_at AT TIME ZONE 'UTC')::date AS day,
    r.platform,
    count(*) AS runs,
    count(*) FILTER (WHERE r.state = 'gave_up') AS given_up,
    coalesce(sum(coalesce(r.cost, r.estimate)) FILTER (
        WHERE r.state IN ('answered', 'done')
           OR r.state = 'gave_up' AND private.is_paid(r.error_class)), 0)::text AS cost
FROM public.tracking_jobs AS j
JOIN public.tracking_runs AS r ON r.job_id = j.id
WHERE j.organization_id = $1
  AND j.brand_id = ANY($2)
  AND j.created_at >= $3::date::timestamp AT TIME ZONE 'UTC'
  AND j.created_at < ($4::date + 1)::timestamp AT TIME ZONE 'UTC'
  AND r.state <> 'cancelled'
GROUP BY j.brand_id, day, r.platform
ORDER BY j.brand_id, day, r.platform
