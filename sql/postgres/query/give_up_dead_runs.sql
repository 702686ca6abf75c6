-- give_up_dead_runs: gives up runs of a job whose records are dead letters.
UPDATE public.tracking_runs AS r
SET
    state = 'gave_up',
    error_class = 'changed_shape',
    error = 'the record of its answer is a dead letter'
FROM public.tracking_jobs AS j
WHERE j.id = $1
  AND j.claim = $2
  AND r.job_id = j.id
  AND r.answer_id = ANY ($3::uuid[])
  AND r.state = 'done'
