-- warehouse_changed: notes that the warehouse was changed.
SELECT nextval('private.warehouse_changes') AS version
