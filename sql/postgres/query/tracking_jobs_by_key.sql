-- tracking_jobs_by_key: jobs, each of its organization.
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
JOIN unnest($1::uuid[], $2::uuid[]) AS k (organization_id, id) USING (organization_id, id)
