-- lock_tracking_runs: locks the queued ones of the runs of a job, after the job, and returns them.
WITH job AS (
    SELECT id
    FROM public.tracking_jobs
    WHERE id = $1
      AND status IN ('waiting', 'active')
    FOR NO KEY UPDATE
)
SELECT r.id
FROM public.tracking_runs AS r
JOIN job AS j ON j.id = r.job_id
WHERE r.id = ANY ($2::uuid[])
  AND r.state = 'queued'
FOR NO KEY UPDATE OF r
