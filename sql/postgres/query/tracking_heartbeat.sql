-- tracking_heartbeat: sends the heartbeat of the queue's job $3, and returns whether the tracking job $1 was cancelled,
-- if the claim $2 still holds.
WITH heartbeat AS (
    UPDATE private.river_job SET attempted_at = clock_timestamp() WHERE id = $3 AND state = 'running'
)
SELECT cancelled_at IS NOT NULL AS is_cancelled
FROM public.tracking_jobs
WHERE id = $1
  AND claim = $2
