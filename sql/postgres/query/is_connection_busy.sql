-- is_connection_busy: whether a server process that had one advisory lock has begun keep_connection_busy.
SELECT count(*) > 1 AS locked
FROM pg_locks
WHERE pid = $1::int
  AND locktype = 'advisory'
  AND granted
