-- prune_tracking_jobs: deletes jobs that ended before an instant, with their runs, at most so many.
DELETE FROM public.tracking_jobs
WHERE id IN (
          SELECT id
          FROM public.tracking_jobs
          WHERE finished_at < $1::timestamptz
          ORDER BY finished_at
          LIMIT $2::int)
