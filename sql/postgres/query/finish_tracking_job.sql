-- finish_tracking_job: ends a job with the result of its runs; a job without a worker, only if all runs were cancelled.
WITH runs AS (
    SELECT
        count(*) FILTER (WHERE state = 'done') AS answered,
        count(*) FILTER (WHERE state = 'done' AND not_shown) AS not_shown,
        count(*) FILTER (WHERE state = 'cancelled') AS cancelled,
        coalesce(sum(repeats), 0) AS repeats
    FROM public.tracking_runs
    WHERE job_id = $1
), classes AS (
    SELECT coalesce(jsonb_object_agg(error_class, runs), '{}') AS gave_up
    FROM (SELECT error_class, count(*) AS runs FROM public.tracking_runs WHERE job_id = $1 AND state = 'gave_up' GROUP BY 1) AS c
), platforms AS (
    SELECT coalesce(jsonb_agg(platform ORDER BY platform), '[]') AS degraded
    FROM (
        SELECT platform
        FROM public.tracking_runs
        WHERE job_id = $1
        GROUP BY platform
        HAVING count(*) FILTER (WHERE state = 'gave_up') * 5 > count(*)
    ) AS p
)
UPDATE public.tracking_jobs AS j
SET
    status = CASE WHEN j.cancelled_at IS NOT NULL THEN 'cancelled' WHEN r.answered = 0 THEN 'failed' ELSE 'completed' END,
    phase = 'done',
    finished_at = now(),
    failed_reason = CASE WHEN j.cancelled_at IS NULL AND r.answered = 0 THEN
        'no run was answered: ' || (SELECT string_agg(key || ' ' || value, ', ' ORDER BY key) FROM jsonb_each_text(c.gave_up)) END,
    result = jsonb_build_object(
        'answered', r.answered, 'notShown', r.not_shown, 'gaveUp', c.gave_up, 'cancelled', r.cancelled, 'repeats', r.repeats,
        'cost', jsonb_build_object('amount', j.cost, 'currency', j.currency), 'degradedPlatforms', p.degraded)
FROM runs AS r, classes AS c, platforms AS p
WHERE j.id = $1
  AND j.claim = $2
  AND (j.status = 'active' OR j.status = 'waiting' AND r.cancelled = j.total)
