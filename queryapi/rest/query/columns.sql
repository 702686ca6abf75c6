-- columns: those of relations, in order, with their types and the expressions of their defaults.
SELECT
  a.attrelid::bigint,
  a.attnum,
  a.attname::text,
  pg_catalog.format_type(a.atttypid, a.atttypmod),
  coalesce(nullif(t.typbasetype, 0), t.oid) = 'pg_catalog.tsvector'::regtype,
  CASE
    WHEN a.attgenerated <> '' THEN ''
    WHEN a.attidentity = 'd' THEN (
      SELECT pg_catalog.format('nextval(%L)', pg_catalog.format('%I.%I', sn.nspname, s.relname))
      FROM pg_catalog.pg_depend dep
      JOIN pg_catalog.pg_class s ON s.oid = dep.objid AND s.relkind = 'S'
      JOIN pg_catalog.pg_namespace sn ON sn.oid = s.relnamespace
      WHERE dep.refobjid = a.attrelid AND dep.refobjsubid = a.attnum AND dep.deptype = 'i'
    )
    ELSE coalesce(pg_catalog.pg_get_expr(d.adbin, d.adrelid), pg_catalog.pg_get_expr(t.typdefaultbin, 0), '')
  END
FROM pg_catalog.pg_attribute a
JOIN pg_catalog.pg_class c ON c.oid = a.attrelid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
LEFT JOIN pg_catalog.pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
WHERE c.relkind IN ('r', 'v', 'm', 'f', 'p')
  AND NOT c.relispartition
  AND c.relpersistence <> 't'
  AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast')
  AND a.attnum > 0
  AND NOT a.attisdropped
ORDER BY a.attrelid, a.attnum
