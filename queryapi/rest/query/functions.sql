-- functions: those of the given schemas, their parameters, and what they return. A domain counts as what it is of.
WITH RECURSIVE base AS (
  SELECT oid, oid AS base, typbasetype FROM pg_catalog.pg_type
  UNION ALL
  SELECT b.oid, t.oid, t.typbasetype FROM base b JOIN pg_catalog.pg_type t ON t.oid = b.typbasetype
)
SELECT
  n.nspname::text,
  p.proname::text,
  ARRAY(
    SELECT coalesce(p.proargnames[i], '')
    FROM generate_subscripts(coalesce(p.proallargtypes, p.proargtypes::oid[]), 1) AS s (j),
      LATERAL (SELECT CASE WHEN p.proallargtypes IS NULL THEN j + 1 ELSE j END AS i) AS one
    WHERE coalesce(p.proargmodes[i], 'i') IN ('i', 'b', 'v')
    ORDER BY i
  ),
  ARRAY(SELECT pg_catalog.format_type(t, NULL) FROM unnest(p.proargtypes) WITH ORDINALITY AS a (t, i) ORDER BY i),
  ARRAY(
    SELECT p.provariadic <> 0 AND i = p.pronargs FROM generate_series(1, p.pronargs) AS i ORDER BY i
  ),
  p.pronargdefaults,
  p.proretset,
  t.typtype = 'c' OR coalesce(p.proargmodes && '{t,b,o}'::"char"[], false),
  t.oid = 'pg_catalog.void'::regtype,
  p.provolatile::text,
  tn.nspname::text,
  t.typname::text,
  coalesce(results.names, '{}'),
  coalesce(results.types, '{}')
FROM pg_catalog.pg_proc p
JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
JOIN base b ON b.oid = p.prorettype AND b.typbasetype = 0
JOIN pg_catalog.pg_type t ON t.oid = b.base
JOIN pg_catalog.pg_namespace tn ON tn.oid = t.typnamespace
LEFT JOIN LATERAL (
  SELECT array_agg(r.name ORDER BY r.i) AS names, array_agg(r.type ORDER BY r.i) AS types
  FROM (
    SELECT i, p.proargnames[i] AS name, pg_catalog.format_type(o, NULL) AS type
    FROM unnest(p.proallargtypes) WITH ORDINALITY AS a (o, i)
    WHERE p.proargmodes[i] IN ('t', 'b', 'o')
    UNION ALL
    SELECT c.attnum, c.attname, pg_catalog.format_type(c.atttypid, c.atttypmod)
    FROM pg_catalog.pg_attribute c
    WHERE c.attrelid = t.typrelid AND c.attnum > 0 AND NOT c.attisdropped
  ) AS r
) AS results ON true
WHERE p.prokind = 'f'
  AND t.oid <> 'pg_catalog.trigger'::regtype
  AND n.nspname = ANY ($1)
ORDER BY p.oid
