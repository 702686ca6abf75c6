-- advice_run: the last computation of a brand's suggestions; no computed_at before the first one. totals has for each
-- kind what it found, and how many of its suggestions are in each state at $3.
SELECT
    a.computed_at,
    coalesce(a.rules_version, 0) AS rules_version,
    coalesce(to_char(a.date_from, 'YYYY-MM-DD'), '') AS date_from,
    coalesce(to_char(a.date_to, 'YYYY-MM-DD'), '') AS date_to,
    coalesce(a.reasons, '[]') AS reasons,
    coalesce(
        (SELECT jsonb_agg(coalesce(total, '{}') || coalesce(states, '{}') ORDER BY kind)
         FROM (SELECT total ->> 'kind' AS kind, total FROM jsonb_array_elements(a.totals) AS t (total)) AS totals
         FULL JOIN (
             SELECT
                 kind,
                 jsonb_build_object(
                     'kind', kind,
                     'new', count(*) FILTER (WHERE status = 'new' AND (expires_at IS NULL OR expires_at > $3)),
                     'added', count(*) FILTER (WHERE status = 'added' AND (expires_at IS NULL OR expires_at > $3)),
                     'closed', count(*) FILTER (WHERE status = 'added' AND expires_at <= $3),
                     'dismissed', count(*) FILTER (WHERE status = 'dismissed')) AS states
             FROM public.suggestions
             WHERE organization_id = $1
               AND brand_id = $2
             GROUP BY kind
         ) AS counts USING (kind)),
        '[]') AS totals
FROM public.brands AS b
LEFT JOIN private.advice_runs AS a ON a.brand_id = b.id
WHERE b.organization_id = $1
  AND b.id = $2
