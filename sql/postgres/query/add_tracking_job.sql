-- add_tracking_job: adds a job, before its runs.
INSERT INTO public.tracking_jobs (organization_id, brand_id, requested_by, total, request, plan, idempotency_key, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
RETURNING id
