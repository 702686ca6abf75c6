-- due_reports: active brands that have no report, at $1, of the ISO week before, at whose end they existed: from Monday
-- 7:00 to Wednesday in the time zone of the organization, but not before Monday 1:00 UTC, an hour after the week's end.
SELECT
    b.id,
    b.organization_id,
    b.name,
    b.slug,
    coalesce(b.industry, '') AS industry,
    coalesce(b.region, '') AS region,
    coalesce(b.language, '') AS language,
    b.is_active,
    b.created_at,
    (w.this - 7)::timestamp AT TIME ZONE 'UTC' AS monday,
    coalesce((
        SELECT e.data ->> 'answers' = '0'
        FROM public.events AS e
        WHERE e.organization_id = b.organization_id
          AND e.brand_id = b.id
          AND e.type = 'report.weekly'
        ORDER BY e.at DESC
        LIMIT 1), false) AS last_empty
FROM public.organizations AS o
CROSS JOIN LATERAL (SELECT $1::timestamptz AT TIME ZONE o.time_zone AS local) AS t
CROSS JOIN LATERAL (SELECT date_trunc('week', t.local)::date AS this) AS w
JOIN public.brands AS b ON b.organization_id = o.id
WHERE t.local BETWEEN w.this + time '07:00' AND w.this + 3
  AND $1 >= (w.this + time '01:00') AT TIME ZONE 'UTC'
  AND b.is_active
  AND b.created_at < w.this::timestamp AT TIME ZONE 'UTC'
  AND NOT EXISTS (
      SELECT
      FROM public.events AS e
      WHERE e.organization_id = o.id
        AND e.key = 'report.weekly/' || b.id || '/' || to_char(w.this - 7, 'IYYY-"W"IW'))
-- A brand of each organization, then the second ones: many brands of one hold up no other's.
ORDER BY
    row_number() OVER (PARTITION BY b.organization_id ORDER BY b.id),
    b.organization_id
