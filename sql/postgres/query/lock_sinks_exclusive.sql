-- lock_sinks_exclusive: takes the sink lock of a shard exclusively, after every sink that holds it; it ends with the
-- connection.
SELECT pg_advisory_lock(hashtextextended('answerscope_sinks', $1::int))
