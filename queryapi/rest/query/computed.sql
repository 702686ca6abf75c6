-- computed: functions in the given schemas whose only argument is a row of a relation.
SELECT
  n.nspname::text,
  p.proname::text,
  a.typrelid::bigint,
  r.typrelid::bigint,
  p.proretset,
  NOT p.proretset OR p.prorows = 1,
  pg_catalog.format_type(p.prorettype, NULL)
FROM pg_catalog.pg_proc p
JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
JOIN pg_catalog.pg_type a ON a.oid = p.proargtypes[0] AND a.typtype = 'c'
JOIN pg_catalog.pg_type r ON r.oid = p.prorettype
WHERE p.pronargs = 1
  AND p.prokind = 'f'
  AND n.nspname = ANY ($1)
ORDER BY p.oid
