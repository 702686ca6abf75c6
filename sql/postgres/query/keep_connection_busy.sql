-- keep_connection_busy: keeps the connection, and its locks, for so many seconds even if the client dies; ends when it
-- is cancelled. The second lock shows that it has begun: pg_stat_activity hides other users' statements.
SELECT pg_sleep($1::float8)
FROM (SELECT pg_advisory_xact_lock_shared(hashtextextended('answerscope_sinks_outlast', 0)) OFFSET 0) AS begun
