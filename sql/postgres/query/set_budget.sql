-- set_budget: sets the budget of an organization for a platform, or for all; a null is no limit. The operator's stands
-- beside the owners'.
INSERT INTO private.budgets (organization_id, platform, by_operator, runs_per_day, runs_per_month, cost_per_day, cost_per_month)
VALUES ($1, $2, $3, $4, $5, $6::text::numeric, $7::text::numeric)
ON CONFLICT (organization_id, platform, by_operator) DO UPDATE SET
    runs_per_day = excluded.runs_per_day,
    runs_per_month = excluded.runs_per_month,
    cost_per_day = excluded.cost_per_day,
    cost_per_month = excluded.cost_per_month
