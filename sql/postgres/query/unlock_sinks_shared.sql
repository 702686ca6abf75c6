-- unlock_sinks_shared: notes that batch $2 has landed, or if it is 0 that the warehouse may have changed, and releases the
-- lock of lock_sinks_shared.
WITH settled AS (
    UPDATE private.batches
    SET settled = started
    WHERE topic = $3::text
      AND partition = $4::int
      AND brand_id = ANY ($5::uuid[])
      AND started = $2::bigint
)
SELECT ($2::bigint > 0 OR nextval('private.warehouse_changes') > 0)
   AND pg_advisory_unlock_shared(hashtextextended('answerscope_sinks', $1::int)) AS locked
