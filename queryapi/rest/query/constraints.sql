-- constraints: primary, unique and foreign keys. Those of partitions are their table's.
SELECT
  conname::text,
  contype::text,
  conrelid::bigint,
  confrelid::bigint,
  conkey,
  coalesce(confkey, '{}')
FROM pg_catalog.pg_constraint
WHERE contype IN ('p', 'u', 'f')
  AND conparentid = 0
ORDER BY conrelid, conname
