-- lock_tracking_job: locks a running job, and returns whether this worker still holds the claim and whether the brand
-- has other running jobs.
SELECT
    j.claim = $2 AS is_ours,
    EXISTS (
        SELECT FROM public.tracking_jobs AS o
        WHERE o.brand_id = j.brand_id
          AND o.id <> j.id
          AND o.status IN ('waiting', 'active')
    ) AS has_others
FROM public.tracking_jobs AS j
WHERE j.id = $1
  AND j.status IN ('waiting', 'active')
FOR NO KEY UPDATE OF j
