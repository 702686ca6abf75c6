-- requeue_tracking_runs: queues again what a worker was asking when it ended: the outcome is not known.
UPDATE public.tracking_runs
SET
    state = 'queued',
    is_unknown = true
WHERE job_id = $1
  AND state = 'asking'
