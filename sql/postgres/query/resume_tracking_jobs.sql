-- resume_tracking_jobs: queues again the jobs whose worker sent no heartbeat for some seconds, as new jobs of the
-- queue: a worker that was only paused ends the old one.
WITH silent AS (
    UPDATE private.river_job
    SET
        state = 'discarded',
        finalized_at = now()
    WHERE kind = 'tracking'
      AND state = 'running'
      AND attempted_at < clock_timestamp() - make_interval(secs => $1)
    RETURNING args, kind, max_attempts, priority, queue
)
INSERT INTO private.river_job (args, kind, max_attempts, priority, queue)
SELECT args, kind, max_attempts, priority, queue
FROM silent
