-- requeue_tracking_runs: queues again the runs that a worker was asking when it ended, with unknown outcome; not those
-- that a capture provider has accepted.
UPDATE public.tracking_runs
SET
    state = 'queued',
    is_unknown = true
WHERE job_id = $1
  AND state = 'asking'
  AND submitted_at IS NULL
