-- budget_usage: the budgets of an organization and what it has spent in the day and the month of an instant, in UTC:
-- of all platforms together ('') first, then of each that has a budget, then of the others that were asked.
WITH spent AS (
    SELECT
        coalesce(platform, '') AS platform,
        coalesce(sum(runs) FILTER (WHERE day = today), 0) AS runs_day,
        coalesce(sum(cost) FILTER (WHERE day = today), 0) AS cost_day,
        coalesce(sum(runs), 0) AS runs_month,
        coalesce(sum(cost), 0) AS cost_month
    FROM private.spending
    CROSS JOIN (SELECT ($2::timestamptz AT TIME ZONE 'UTC')::date AS today) AS clock
    WHERE organization_id = $1
      AND day BETWEEN date_trunc('month', today)::date AND today
    GROUP BY GROUPING SETS ((platform), ())
), limits AS (
    SELECT
        platform,
        organization_id,
        min(runs_per_day) AS runs_per_day,
        min(runs_per_month) AS runs_per_month,
        min(cost_per_day) AS cost_per_day,
        min(cost_per_month) AS cost_per_month
    FROM private.budgets
    WHERE organization_id = $1
    GROUP BY platform, organization_id
)
SELECT
    platform,
    l.runs_per_day,
    l.runs_per_month,
    l.cost_per_day::text AS cost_per_day,
    l.cost_per_month::text AS cost_per_month,
    jsonb_build_object(
        'platform', platform,
        'runsDay', coalesce(s.runs_day, 0),
        'costDay', CASE WHEN o.is_only_asked THEN s.cost_day::text ELSE round(coalesce(s.cost_day, 0), 6)::text END,
        'runsMonth', coalesce(s.runs_month, 0),
        'costMonth', CASE WHEN o.is_only_asked THEN s.cost_month::text ELSE round(coalesce(s.cost_month, 0), 6)::text END
    ) AS spent
FROM spent AS s
FULL JOIN limits AS l USING (platform)
CROSS JOIN LATERAL (SELECT platform <> '' AND l.organization_id IS NULL AS is_only_asked) AS o
ORDER BY o.is_only_asked, platform
