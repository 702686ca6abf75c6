-- store_advice_run: records a computation of a brand's suggestions, unless a later one has been recorded.
INSERT INTO private.advice_runs
    (brand_id, organization_id, inputs, rules_version, date_from, date_to, totals, reasons, computed_at)
SELECT
    b.id,
    b.organization_id,
    $2,
    $3,
    $4,
    $5,
    $6,
    $7,
    $8
FROM public.brands AS b
WHERE b.id = $1
ON CONFLICT (brand_id) DO UPDATE SET
    inputs = excluded.inputs,
    rules_version = excluded.rules_version,
    date_from = excluded.date_from,
    date_to = excluded.date_to,
    totals = excluded.totals,
    reasons = excluded.reasons,
    computed_at = excluded.computed_at
WHERE advice_runs.computed_at <= excluded.computed_at
