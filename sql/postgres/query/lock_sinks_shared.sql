-- lock_sinks_shared: takes the sink lock of a shard shared, after every process that holds or awaits it exclusively.
SELECT pg_advisory_lock_shared(hashtextextended('answerscope_sinks', $1::int))
