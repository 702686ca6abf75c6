-- lock_tracking_job: locks a job, if it is still this worker's, and returns whether the brand has other running jobs.
SELECT EXISTS (
    SELECT FROM public.tracking_jobs AS o
    WHERE o.brand_id = j.brand_id
      AND o.id <> j.id
      AND o.status IN ('waiting', 'active')
) AS has_others
FROM public.tracking_jobs AS j
WHERE j.id = $1
  AND j.claim = $2
FOR NO KEY UPDATE OF j
