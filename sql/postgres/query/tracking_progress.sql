-- tracking_progress: the runs of a job by platform and how they ended; on every row the job's ended runs per minute since
-- it was started, and the minutes that the others need at that rate, once 20 runs have ended.
SELECT
    r.platform,
    count(*) FILTER (WHERE r.state IN ('answered', 'done')) AS answered,
    count(*) FILTER (WHERE r.not_shown) AS not_shown,
    count(*) FILTER (WHERE r.state = 'gave_up') AS given_up,
    count(*) FILTER (WHERE r.state IN ('queued', 'asking')) AS waiting,
    round(60 * p.completed / p.seconds, 1)::float8 AS rate_per_minute,
    ceil((p.total - p.completed) * p.seconds / (60 * p.completed))::int AS minutes_left
FROM public.tracking_jobs AS j
JOIN public.tracking_runs AS r ON r.job_id = j.id
LEFT JOIN LATERAL (
    SELECT j.completed, j.total, extract(epoch FROM coalesce(j.finished_at, $3) - j.started_at) AS seconds
    WHERE j.completed >= 20 AND j.started_at < coalesce(j.finished_at, $3)
) AS p ON true
WHERE j.organization_id = $1
  AND j.id = $2
GROUP BY r.platform, p.completed, p.total, p.seconds
ORDER BY r.platform
