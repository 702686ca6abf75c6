-- over_budget: the first budget of an organization without room for the runs at an instant, and its spending, in UTC.
-- Runs that were already asked in their slot need nothing. The simulator costs nobody money, but disk: of each of its
-- platforms there are 1,000 runs a day, or what the operator's budget of that platform says.
WITH wanted AS (
    SELECT
        r.platform,
        count(*) AS runs,
        coalesce(sum(r.estimate), 0) AS cost
    FROM jsonb_to_recordset($3::jsonb) AS r (platform text, estimate numeric, answer_id uuid)
    WHERE NOT EXISTS (SELECT FROM public.tracking_runs AS t WHERE t.answer_id = r.answer_id)
    GROUP BY r.platform
), limits AS (
    SELECT
        b.platform,
        l.*
    FROM private.budgets AS b
    CROSS JOIN LATERAL (
        VALUES ('day', b.runs_per_day, b.cost_per_day), ('month', b.runs_per_month, b.cost_per_month)
    ) AS l (period, runs, cost)
    WHERE b.organization_id = $1
    UNION ALL
    SELECT
        w.platform,
        'day',
        1000,
        NULL
    FROM wanted AS w
    WHERE w.platform ~ '^simulator'
      AND NOT EXISTS (SELECT FROM private.budgets AS b WHERE b.organization_id = $1 AND b.platform = w.platform AND b.by_operator)
), used AS (
    SELECT
        l.*,
        w.runs AS wanted_runs,
        w.cost AS wanted_cost,
        s.runs AS spent_runs,
        s.cost AS spent_cost
    FROM limits AS l
    CROSS JOIN LATERAL (
        SELECT
            sum(runs) AS runs,
            sum(cost) AS cost
        FROM wanted
        WHERE l.platform IN ('', platform)
    ) AS w
    CROSS JOIN LATERAL (
        SELECT
            coalesce(sum(runs), 0) AS runs,
            coalesce(sum(cost), 0) AS cost
        FROM private.spending
        WHERE organization_id = $1
          AND l.platform IN ('', platform)
          AND day BETWEEN date_trunc(l.period, $2::timestamptz AT TIME ZONE 'UTC')::date AND ($2::timestamptz AT TIME ZONE 'UTC')::date
    ) AS s
)
SELECT
    u.platform,
    c.what,
    u.period,
    c.budget,
    c.spent,
    c.wanted,
    (date_trunc(u.period, $2::timestamptz AT TIME ZONE 'UTC') + ('1 ' || u.period)::interval) AT TIME ZONE 'UTC' AS resets
FROM used AS u
CROSS JOIN LATERAL (
    VALUES
        ('runs', spent_runs + wanted_runs > runs, runs::text, spent_runs::text, wanted_runs::text),
        ('cost', spent_cost + wanted_cost > cost, cost::text, round(spent_cost, 6)::text, round(wanted_cost, 6)::text)
) AS c (what, is_over, budget, spent, wanted)
WHERE c.is_over
ORDER BY u.platform, u.period, c.what DESC
LIMIT 1
