-- delete_changes: forgets changes.
DELETE FROM private.outbox
WHERE id = ANY ($1::bigint[])
