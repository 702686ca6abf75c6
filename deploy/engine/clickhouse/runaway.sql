-- The longest query of another user that exceeds its own limit of time by half, or of memory by a third: it is in a function
-- that checks neither limits nor KILL QUERY.
SELECT
    user,
    query_id,
    round(elapsed, 1),
    toUInt64OrZero(Settings['max_execution_time']) AS seconds,
    memory_usage,
    toUInt64OrZero(Settings['max_memory_usage']) AS bytes,
    left(query, 500)
FROM system.processes
WHERE user NOT IN ('', 'default', currentUser())
  AND (seconds > 0 AND elapsed > 1.5 * seconds AND elapsed > seconds + 1 OR bytes > 0 AND memory_usage > 1.3 * bytes)
ORDER BY elapsed DESC
LIMIT 1
SETTINGS log_queries = 0
