-- mark_purged: records when a complete purge of tombstones began.
UPDATE private.tombstones AS t
SET purged_at = $2
FROM jsonb_to_recordset($1::jsonb) AS done (kind text, id uuid)
WHERE t.kind = done.kind
  AND t.id = done.id
