-- views: the parse trees of views in the given schemas.
SELECT
  c.oid::bigint,
  r.ev_action::text
FROM pg_catalog.pg_rewrite r
JOIN pg_catalog.pg_class c ON c.oid = r.ev_class
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('v', 'm')
  AND r.ev_type = '1'
  AND n.nspname = ANY ($1)
