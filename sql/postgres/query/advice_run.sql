-- advice_run: the last computation of a brand's suggestions, with how many of each kind are in each state at $3; no
-- computed_at before the first one.
SELECT
    a.computed_at,
    coalesce(a.rules_version, 0) AS rules_version,
    coalesce(to_char(a.date_from, 'YYYY-MM-DD'), '') AS date_from,
    coalesce(to_char(a.date_to, 'YYYY-MM-DD'), '') AS date_to,
    coalesce(a.reasons, '[]') AS reasons,
    coalesce(a.totals, '[]') AS totals,
    coalesce(
        (SELECT jsonb_agg(jsonb_build_object('kind', kind, 'new', open, 'added', added, 'closed', closed, 'dismissed', dismissed))
         FROM (
             SELECT
                 kind,
                 count(*) FILTER (WHERE status = 'new' AND (expires_at IS NULL OR expires_at > $3)) AS open,
                 count(*) FILTER (WHERE status = 'added' AND (expires_at IS NULL OR expires_at > $3)) AS added,
                 count(*) FILTER (WHERE status = 'added' AND expires_at <= $3) AS closed,
                 count(*) FILTER (WHERE status = 'dismissed') AS dismissed
             FROM public.suggestions
             WHERE organization_id = $1
               AND brand_id = $2
             GROUP BY kind
         ) AS states),
        '[]') AS counts
FROM public.brands AS b
LEFT JOIN private.advice_runs AS a ON a.brand_id = b.id
WHERE b.organization_id = $1
  AND b.id = $2
