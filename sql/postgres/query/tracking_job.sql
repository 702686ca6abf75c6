-- tracking_job: a job of an organization. It is polled, so its plan must be that of the primary key.
SELECT
    id,
    brand_id,
    status,
    phase,
    completed,
    total,
    result,
    failed_reason,
    created_at
FROM public.tracking_jobs
WHERE organization_id = $1
  AND id = $2
