-- run_cost: the mean cost in US dollars of the runs of a brand's newest jobs.
SELECT (sum(cost) / nullif(sum(completed), 0))::float8
FROM (
    SELECT cost, completed
    FROM public.tracking_jobs
    WHERE organization_id = $1
      AND brand_id = $2
      AND status = 'completed'
    ORDER BY created_at DESC, id DESC
    LIMIT 100
) AS newest
