-- relations: tables, views and foreign tables outside the system's schemas, and what may be written to them.
SELECT
  c.oid::bigint,
  n.nspname::text,
  c.relname::text,
  c.relkind IN ('v', 'm'),
  c.relkind IN ('r', 'p') OR pg_relation_is_updatable(c.oid, true) & 8 > 0,
  c.relkind IN ('r', 'p') OR pg_relation_is_updatable(c.oid, true) & 4 > 0,
  c.relkind IN ('r', 'p') OR pg_relation_is_updatable(c.oid, true) & 16 > 0
FROM pg_catalog.pg_class c
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'v', 'm', 'f', 'p')
  AND NOT c.relispartition
  AND c.relpersistence <> 't'
  AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast')
