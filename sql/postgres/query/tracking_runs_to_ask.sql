-- tracking_runs_to_ask: the queued runs of a job, and those that a capture provider has accepted.
SELECT
    id,
    prompt_id,
    platform,
    model,
    region,
    sample,
    slot,
    attempts,
    attempts - repeats - is_unknown::int AS failures,
    rate_limited,
    next_attempt_at,
    coalesce(error_class, '') AS error_class,
    coalesce(error, '') AS error,
    coalesce(provider, '') AS provider,
    coalesce(provider_job, '') AS provider_job,
    submitted_at,
    late_jobs,
    coalesce(estimate, 0)::text AS estimate,
    coalesce(cost, 0)::text AS cost
FROM public.tracking_runs
WHERE job_id = $1
  AND state IN ('queued', 'asking')
ORDER BY id
