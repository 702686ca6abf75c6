-- is_connection_busy: whether the server process $1 has begun keep_connection_busy, by the lock that this takes.
SELECT EXISTS (
    SELECT
    FROM pg_locks
    WHERE pid = $1::int
      AND locktype = 'advisory'
      AND granted
      AND (classid::bigint << 32 | objid::bigint) = hashtextextended('answerscope_sinks_hold', 0)) AS is_busy
