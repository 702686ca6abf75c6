-- keep_connection_busy: keeps the connection and its locks for $1 seconds even if the client dies, or until it is
-- cancelled. Its own lock shows that it has begun: pg_stat_activity hides the statements of other users.
SELECT pg_sleep($1::float8)
FROM (SELECT pg_advisory_xact_lock_shared(hashtextextended('answerscope_sinks_hold', 0)) OFFSET 0) AS begun
