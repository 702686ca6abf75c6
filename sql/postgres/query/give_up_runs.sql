-- give_up_runs: gives up runs of a job whose records the warehouse does not get.
UPDATE public.tracking_runs AS r
SET
    state = 'gave_up',
    error_class = $4,
    error = $5
FROM public.tracking_jobs AS j
WHERE j.id = $1
  AND j.claim = $2
  AND r.job_id = j.id
  AND r.answer_id = ANY ($3::uuid[])
  AND r.state = 'done'
