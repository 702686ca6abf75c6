-- active_sinks: the connections that hold the sink lock of any shard for a batch, which some tables may lack.
SELECT pid
FROM pg_locks
WHERE locktype = 'advisory'
  AND mode = 'ShareLock'
  AND granted
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
  AND (classid::bigint << 32 | objid::bigint) IN (SELECT hashtextextended('answerscope_sinks', shard) FROM generate_series(0, 255) AS shard)
