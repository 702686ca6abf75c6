-- stalled_tracking_jobs: how many running jobs have made no progress since an instant.
SELECT count(*)
FROM public.tracking_jobs
WHERE status IN ('waiting', 'active')
  AND updated_at < $1
