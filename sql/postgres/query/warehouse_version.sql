-- warehouse_version: how often the warehouse was changed.
SELECT last_value + is_called::int AS version
FROM private.warehouse_changes
