-- purged: notes when a purge of what was deleted began that has ended.
UPDATE private.tombstones AS t
SET purged_at = $3
FROM unnest($1::text[], $2::uuid[]) AS done (kind, id)
WHERE t.kind = done.kind
  AND t.id = done.id
