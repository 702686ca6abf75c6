-- tracking_queue: how many runs of an organization wait to be asked, counted up to $2, and how many of its jobs have not
-- ended.
SELECT
    (SELECT count(*)
     FROM (SELECT FROM public.tracking_runs WHERE organization_id = $1 AND state = 'queued' LIMIT $2) AS runs) AS runs,
    (SELECT count(*)
     FROM public.tracking_jobs
     WHERE organization_id = $1
       AND status IN ('waiting', 'active')) AS jobs
