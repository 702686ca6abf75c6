-- running_tracking_job: the running job of a brand with the plan.
SELECT id
FROM public.tracking_jobs
WHERE brand_id = $1
  AND plan = $2
  AND status IN ('waiting', 'active')
  AND cancelled_at IS NULL
ORDER BY created_at
LIMIT 1
