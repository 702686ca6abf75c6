-- delete_changes: deletes changes that the warehouse has, and records that the warehouse changed.
DELETE FROM private.outbox
USING (SELECT nextval('private.warehouse_changes') AS version) AS noted
WHERE id = ANY ($1::bigint[])
  AND version > 0
