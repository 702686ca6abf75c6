-- tracking_spending: the runs of the jobs of some brands by brand, UTC day and platform, those whose surface showed no
-- answer, those that were given up, and the cost in US dollars. The day is the one on which the job was started, as in
-- budgets; of cancelled runs only their cost counts.
SELECT
    j.brand_id,
    (j.created_at AT TIME ZONE 'UTC')::date AS day,
    r.platform,
    count(*) FILTER (WHERE r.state <> 'cancelled') AS runs,
    count(*) FILTER (WHERE r.not_shown) AS not_shown,
    count(*) FILTER (WHERE r.state = 'gave_up') AS given_up,
    sum(private.run_cost(r.state, r.error_class, r.cost, r.estimate))::text AS cost
FROM public.tracking_jobs AS j
JOIN public.tracking_runs AS r ON r.job_id = j.id
WHERE j.organization_id = $1
  AND j.brand_id = ANY($2)
  AND j.created_at >= $3::date::timestamp AT TIME ZONE 'UTC'
  AND j.created_at < ($4::date + 1)::timestamp AT TIME ZONE 'UTC'
  AND (r.state <> 'cancelled' OR r.cost > 0)
GROUP BY j.brand_id, day, r.platform
ORDER BY j.brand_id, day, r.platform
