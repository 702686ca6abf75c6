-- tracking_jobs: a page of an organization's jobs, newest first, after a job unless its time is null; of one brand or
-- of all.
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
  AND ($2::uuid IS NULL OR brand_id = $2)
  AND ($3::timestamptz IS NULL OR (created_at, id) < ($3, $4::uuid))
ORDER BY created_at DESC, id DESC
LIMIT $5
