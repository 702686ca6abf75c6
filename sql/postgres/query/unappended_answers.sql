-- unappended_answers: some of a job's records that the log may lack.
SELECT
    id,
    answer::text AS answer
FROM public.tracking_runs
WHERE job_id = $1
  AND answer IS NOT NULL
LIMIT 100
