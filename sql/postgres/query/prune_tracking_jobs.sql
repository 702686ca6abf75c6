-- prune_tracking_jobs: deletes at most $2 jobs that ended before an instant, with their runs.
DELETE FROM public.tracking_jobs
WHERE id IN (
          SELECT id
          FROM public.tracking_jobs
          WHERE finished_at < $1::timestamptz
          ORDER BY finished_at
          LIMIT $2::int)
