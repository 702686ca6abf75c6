-- failures: of a brand from $2 to before $3, the runs that were given up by platform and class of error, and the newest
-- event of each reason for which it was not asked.
SELECT jsonb_build_object(
    'gave_up', coalesce((
        SELECT jsonb_agg(g ORDER BY g.runs DESC, g.platform, g.class)
        FROM (
            SELECT r.platform, coalesce(r.error_class, 'unknown') AS class, count(*) AS runs
            FROM public.tracking_jobs AS j
            JOIN public.tracking_runs AS r ON r.job_id = j.id
            WHERE j.brand_id = b.id
              AND j.created_at >= $2
              AND j.created_at < $3::timestamptz + INTERVAL '1 day'
              AND r.slot >= $2
              AND r.slot < $3
              AND r.state = 'gave_up'
            GROUP BY 1, 2
        ) AS g), '[]'),
    'skipped', coalesce((
        SELECT jsonb_agg(s.data)
        FROM (
            SELECT DISTINCT ON (e.data -> 'reason') e.data
            FROM public.events AS e
            WHERE e.organization_id = b.organization_id
              AND e.brand_id = b.id
              AND e.type = 'tracking.skipped'
              AND e.at >= $2
              AND e.at < $3
            ORDER BY e.data -> 'reason', e.at DESC
        ) AS s), '[]'),
    'degraded', '[]'::jsonb)
FROM public.brands AS b
WHERE b.id = $1
