-- cancel_tracking_runs: ends the queued runs of a job, releases what is left of their reservations, and counts them. It
-- locks the job before its runs, as other statements do.
WITH job AS (
    SELECT id
    FROM public.tracking_jobs
    WHERE id = $1
    FOR NO KEY UPDATE
), cancelled AS (
    UPDATE public.tracking_runs
    SET
        state = 'cancelled',
        next_attempt_at = NULL
    WHERE job_id = (SELECT id FROM job)
      AND state = 'queued'
    RETURNING platform, attempts, coalesce(estimate, 0) AS estimate, coalesce(cost, 0) AS cost
), locked AS ( -- in one order
    SELECT s.organization_id, s.platform, s.day
    FROM private.spending AS s
    JOIN public.tracking_jobs AS j ON j.organization_id = s.organization_id
    WHERE j.id = $1
      AND s.day = (j.created_at AT TIME ZONE 'UTC')::date
      AND s.platform IN (SELECT platform FROM cancelled)
    ORDER BY s.platform
    FOR NO KEY UPDATE OF s
), returned AS (
    UPDATE private.spending AS s
    SET
        runs = s.runs - c.unasked,
        cost = s.cost - c.unspent
    FROM (
        SELECT platform, sum(estimate - cost) AS unspent, count(*) FILTER (WHERE attempts = 0) AS unasked
        FROM cancelled
        GROUP BY platform
    ) AS c
    JOIN locked AS l ON l.platform = c.platform
    WHERE (s.organization_id, s.platform, s.day) = (l.organization_id, l.platform, l.day)
)
UPDATE public.tracking_jobs
SET
    completed = completed + (SELECT count(*) FROM cancelled),
    cost = cost + (SELECT coalesce(sum(cost), 0) FROM cancelled)
WHERE id = $1
