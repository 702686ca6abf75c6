-- claim_tracking_job: takes a job up, unless it is over; what another worker does with it from now on is void.
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
