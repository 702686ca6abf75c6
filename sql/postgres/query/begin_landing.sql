-- begin_landing: sets the phase of a job to landing, if all of its runs have ended; its records are on the log.
UPDATE public.tracking_jobs
SET phase = 'landing'
WHERE id = $1
  AND claim = $2
  AND completed = total
