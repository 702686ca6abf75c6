-- warehouse_version: how many changes of the warehouse were recorded.
SELECT last_value + is_called::int AS version
FROM private.warehouse_changes
