-- warehouse_version: how many changes of the warehouse were recorded, the newest batch of these topics, of answers those of
-- brand $2 or, if it is NULL, of all, and whether all such batches have landed.
SELECT
    (SELECT last_value + is_called::int FROM private.warehouse_changes) AS changes,
    coalesce(max(started), 0)                                           AS batch,
    coalesce(bool_and(started = settled), true)                         AS settled
FROM private.batches
WHERE topic = ANY ($1::text[])
  AND ($2::uuid IS NULL OR brand_id = ANY (ARRAY[$2::uuid, '00000000-0000-0000-0000-000000000000']))
