-- ask_tracking_runs: marks runs of a job as being asked, and returns those that the worker may ask: not runs that have
-- ended, nor runs whose question another job is asking, and none if the job was cancelled or claimed by another worker.
-- A run that this worker has already marked is returned again: the reply to the first statement was lost.
WITH job AS ( -- one statement at a time for an organization: an UPDATE enters the unique index of questions in the order
    -- of its plan, so two jobs with the same questions would deadlock
    SELECT
        id,
        pg_advisory_xact_lock(hashtextextended('ask ' || organization_id, 0))
    FROM public.tracking_jobs
    WHERE id = $1
      AND claim = $2
      AND cancelled_at IS NULL
    FOR SHARE
), picked AS ( -- by id alone: by job or state a plan without fresh statistics reads all of the job's runs
    SELECT *
    FROM public.tracking_runs
    WHERE id = ANY ($3::uuid[])
      AND EXISTS (SELECT FROM job)
    ORDER BY prompt_id, platform, model, region, sample
    FOR NO KEY UPDATE
), marked AS (
    UPDATE public.tracking_runs AS r
    SET
        state = 'asking',
        attempts = r.attempts + 1,
        repeats = r.repeats + r.is_unknown::int,
        is_unknown = false,
        next_attempt_at = NULL
    FROM picked AS p
    WHERE r.id = p.id
      AND p.job_id = $1
      AND p.state = 'queued'
      AND NOT EXISTS (
          SELECT FROM public.tracking_runs AS o
          WHERE (o.organization_id, o.prompt_id, o.platform, o.model, o.region, o.sample)
                = (p.organization_id, p.prompt_id, p.platform, p.model, p.region, p.sample)
            AND o.state = 'asking'
      )
    RETURNING r.id
)
SELECT id
FROM marked
UNION ALL
SELECT id
FROM picked
WHERE job_id = $1
  AND state = 'asking' -- by this worker: a claim queues the runs that another worker was asking
