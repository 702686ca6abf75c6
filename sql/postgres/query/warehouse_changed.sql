-- warehouse_changed: records that the warehouse changed.
SELECT nextval('private.warehouse_changes') AS version
