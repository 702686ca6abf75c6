-- cancel_tracking_job: cancels a job, if it is running, and returns its status.
UPDATE public.tracking_jobs
SET cancelled_at = coalesce(cancelled_at, now())
WHERE organization_id = $1
  AND id = $2
  AND status IN ('waiting', 'active')
RETURNING status, claim
