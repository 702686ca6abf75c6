-- set_budget: sets the budget of an organization for a platform, or for all; a null is no limit.
INSERT INTO private.budgets (organization_id, platform, runs_per_day, runs_per_month, cost_per_day, cost_per_month)
VALUES ($1, $2, $3, $4, $5::text::numeric, $6::text::numeric)
ON CONFLICT (organization_id, platform) DO UPDATE SET
    runs_per_day = excluded.runs_per_day,
    runs_per_month = excluded.runs_per_month,
    cost_per_day = excluded.cost_per_day,
    cost_per_month = excluded.cost_per_month
