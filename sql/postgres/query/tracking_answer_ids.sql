-- tracking_answer_ids: the ids of a job's records.
SELECT answer_id
FROM public.tracking_runs
WHERE job_id = $1
  AND state IN ('done', 'gave_up')
ORDER BY answer_id
