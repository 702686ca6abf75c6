-- identical_tracking_runs: queued runs of other running jobs of the organization with the question of a run of a job.
SELECT
    o.id,
    o.job_id,
    o.answer_id
FROM public.tracking_runs AS r
JOIN public.tracking_runs AS o
    ON (o.organization_id, o.prompt_id, o.platform, o.model, o.region, o.sample)
       = (r.organization_id, r.prompt_id, r.platform, r.model, r.region, r.sample)
JOIN public.tracking_jobs AS j ON j.id = o.job_id
WHERE r.job_id = $1
  AND r.id = $2
  AND o.job_id <> r.job_id
  AND o.prompt ->> 'text' = r.prompt ->> 'text' -- which may have been edited between the jobs
  AND o.state = 'queued'
  AND j.status IN ('waiting', 'active')
  AND j.cancelled_at IS NULL
ORDER BY o.job_id
