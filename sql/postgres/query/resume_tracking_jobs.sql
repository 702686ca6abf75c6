-- resume_tracking_jobs: has jobs taken up again whose worker has been silent for some seconds.
UPDATE private.river_job
SET
    state = 'available',
    scheduled_at = now()
WHERE kind = 'tracking'
  AND state = 'running'
  AND attempted_at < clock_timestamp() - make_interval(secs => $1)
