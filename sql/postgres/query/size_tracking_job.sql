-- size_tracking_job: stores the number of the runs of a job and their estimate, reserves it, and returns the number.
WITH runs AS (
    SELECT
        platform,
        count(*) AS runs,
        sum(estimate) AS cost,
        count(*) - count(estimate) AS unknown
    FROM public.tracking_runs
    WHERE job_id = $1
    GROUP BY platform
), reserved AS (
    INSERT INTO private.spending AS s (organization_id, platform, day, runs, cost)
    SELECT j.organization_id, r.platform, (j.created_at AT TIME ZONE 'UTC')::date, r.runs, coalesce(r.cost, 0)
    FROM runs AS r
    CROSS JOIN public.tracking_jobs AS j
    WHERE j.id = $1
    ORDER BY r.platform
    ON CONFLICT (organization_id, platform, day) DO UPDATE SET runs = s.runs + excluded.runs, cost = s.cost + excluded.cost
)
UPDATE public.tracking_jobs
SET
    total = (SELECT coalesce(sum(runs), 0) FROM runs),
    estimated_cost = CASE WHEN (SELECT sum(unknown) FROM runs) = 0 THEN (SELECT sum(cost) FROM runs) END
WHERE id = $1
RETURNING total
