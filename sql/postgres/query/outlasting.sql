-- outlasting: whether a server process, which had one advisory lock, has begun outlast_stop.
SELECT count(*) > 1 AS locked
FROM pg_locks
WHERE pid = $1::int
  AND locktype = 'advisory'
  AND granted
