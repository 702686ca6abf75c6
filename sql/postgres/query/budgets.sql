-- budgets: what an organization may spend, of all platforms first: the least of the owners' and the operator's limits.
SELECT
    platform,
    min(runs_per_day) AS runs_per_day,
    min(runs_per_month) AS runs_per_month,
    min(cost_per_day)::text AS cost_per_day,
    min(cost_per_month)::text AS cost_per_month
FROM private.budgets
WHERE organization_id = $1
GROUP BY platform
ORDER BY platform
