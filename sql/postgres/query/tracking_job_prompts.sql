-- tracking_job_prompts: the prompts of a job's runs that have not ended.
SELECT DISTINCT ON (prompt_id)
    prompt_id,
    prompt
FROM public.tracking_runs
WHERE job_id = $1
  AND state IN ('queued', 'asking')
ORDER BY prompt_id
