-- budgets: what an organization may spend, of all platforms first.
SELECT
    platform,
    runs_per_day,
    runs_per_month,
    cost_per_day::text AS cost_per_day,
    cost_per_month::text AS cost_per_month
FROM private.budgets
WHERE organization_id = $1
ORDER BY platform
