-- outlast_stop: keeps the connection's locks for so many seconds, whether or not its other end still lives; cancelled when it is over.
-- A second lock, until then, shows that it has begun: of what others do pg_stat_activity tells little.
SELECT pg_sleep($1::float8)
FROM (SELECT pg_advisory_xact_lock_shared(hashtextextended('answerscope_sinks_outlast', 0)) OFFSET 0) AS begun
