-- claim_tracking_job: claims a job that has not finished, which voids the claim of any other worker.
UPDATE public.tracking_jobs AS j
SET
    claim = claim + 1,
    status = 'active',
    phase = CASE phase WHEN 'queued' THEN 'asking' ELSE phase END,
    started_at = coalesce(started_at, now())
FROM public.brands AS b
WHERE j.id = $1
  AND j.status IN ('waiting', 'active')
  AND b.id = j.brand_id
RETURNING j.id, j.organization_id, j.brand_id, j.claim, coalesce(b.language, '') AS language, j.created_at
