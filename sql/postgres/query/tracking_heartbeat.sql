-- beat_tracking_job: says that the worker of a job is there, and returns whether the job is still its own and whether
-- it was cancelled.
WITH beat AS (
    UPDATE private.river_job SET attempted_at = clock_timestamp() WHERE id = $3 AND state = 'running'
)
SELECT claim = $2 AS is_ours, cancelled_at IS NOT NULL AS is_cancelled
FROM public.tracking_jobs
WHERE id = $1
