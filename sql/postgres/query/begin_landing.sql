-- begin_landing: all runs of a job have ended and its records are on the log.
UPDATE public.tracking_jobs
SET phase = 'landing'
WHERE id = $1
  AND claim = $2
  AND completed = total
