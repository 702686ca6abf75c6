-- cancel_tracking_job: has a job stop, if it is running, and returns whether it waits for a worker.
UPDATE public.tracking_jobs
SET cancelled_at = coalesce(cancelled_at, now())
WHERE organization_id = $1
  AND id = $2
  AND status IN ('waiting', 'active')
RETURNING status, claim
