-- end_tracking_runs: stores outcomes of requests, among them jobs that capture providers have accepted, counts the runs
-- that have ended, and replaces their estimates by their costs, where these are known. The job is locked.
WITH outcomes AS (
    SELECT *
    FROM unnest($2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::timestamptz[],
        $9::bool[], $10::text[], $11::text[], $12::timestamptz[], $13::bool[])
        AS o (id, state, answer, cost, error_class, error, next_attempt_at, is_uncounted, provider, provider_job,
            submitted_at, not_shown)
), ended AS (
    UPDATE public.tracking_runs AS r
    SET
        state = o.state,
        answer = nullif(o.answer, '')::json,
        not_shown = o.not_shown,
        cost = CASE -- of all its requests, each once: the reply to this statement may be lost
            WHEN o.cost = '' OR o.state = 'queued' AND r.state = 'queued' THEN r.cost
            ELSE coalesce(r.cost, 0) + o.cost::numeric
        END,
        error_class = coalesce(nullif(o.error_class, ''), r.error_class),
        error = coalesce(nullif(o.error, ''), r.error),
        rate_limited = r.rate_limited + (o.is_uncounted AND r.state = 'asking')::int,
        next_attempt_at = o.next_attempt_at,
        provider = coalesce(nullif(o.provider, ''), r.provider),
        provider_job = coalesce(nullif(o.provider_job, ''), r.provider_job),
        late_jobs = CASE
            WHEN o.state = 'queued' AND o.error_class = 'timeout' AND r.submitted_at IS NOT NULL
                THEN array_append(r.late_jobs, r.provider || ' ' || r.provider_job)
            ELSE r.late_jobs
        END,
        submitted_at = CASE WHEN o.state <> 'queued' THEN coalesce(o.submitted_at, r.submitted_at) END
    FROM outcomes AS o
    WHERE r.id = o.id -- and not by job: a plan without fresh statistics would read all of the job's runs
      AND r.state IN ('queued', 'asking')
    RETURNING
        r.organization_id,
        r.platform,
        r.state,
        r.attempts,
        r.estimate,
        private.run_cost(r.state, r.error_class, r.cost, r.estimate) AS cost
), over AS (
    SELECT
        organization_id,
        platform,
        count(*) AS runs,
        count(*) FILTER (WHERE attempts = 0) AS unasked,
        sum(cost) AS cost,
        sum(coalesce(estimate, 0)) AS estimate
    FROM ended
    WHERE state NOT IN ('queued', 'asking')
    GROUP BY organization_id, platform
), locked AS ( -- in one order
    SELECT s.organization_id, s.platform, s.day
    FROM private.spending AS s
    JOIN public.tracking_jobs AS j ON j.organization_id = s.organization_id
    WHERE j.id = $1
      AND s.day = (j.created_at AT TIME ZONE 'UTC')::date
      AND s.platform IN (SELECT platform FROM over)
    ORDER BY s.platform
    FOR NO KEY UPDATE OF s
), counted AS (
    UPDATE private.spending AS s
    SET
        runs = s.runs - o.unasked,
        cost = s.cost - o.estimate + o.cost
    FROM over AS o
    JOIN locked AS l ON l.platform = o.platform
    WHERE (s.organization_id, s.platform, s.day) = (l.organization_id, l.platform, l.day)
)
UPDATE public.tracking_jobs
SET
    completed = completed + (SELECT coalesce(sum(runs), 0) FROM over),
    cost = cost + (SELECT coalesce(sum(cost), 0) FROM over)
WHERE id = $1
  AND EXISTS (SELECT FROM over)
