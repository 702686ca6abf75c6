-- unlock_sinks_shared: records that the warehouse may have changed, and releases the lock of lock_sinks_shared.
SELECT nextval('private.warehouse_changes') > 0
   AND pg_advisory_unlock_shared(hashtextextended('answerscope_sinks', $1::int)) AS locked
