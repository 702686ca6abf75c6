-- queued_runs: how many runs of an organization wait to be asked, counted up to $2.
SELECT count(*)
FROM (
    SELECT
    FROM public.tracking_runs
    WHERE organization_id = $1
      AND state = 'queued'
    LIMIT $2
) AS runs
