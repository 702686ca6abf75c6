-- tracking_job_by_key: the job that was started with an idempotency key within a day.
SELECT id
FROM public.tracking_jobs
WHERE organization_id = $1
  AND idempotency_key = $2
  AND created_at > now() - INTERVAL '1 day'
ORDER BY created_at
LIMIT 1
