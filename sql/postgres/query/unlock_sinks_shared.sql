-- unlock_sinks_shared: notes that the warehouse may have changed, and releases what lock_sinks_shared took on this
-- connection.
SELECT nextval('private.warehouse_changes') > 0
   AND pg_advisory_unlock_shared(hashtextextended('answerscope_sinks', $1::int)) AS locked
