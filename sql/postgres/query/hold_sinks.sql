-- hold_sinks: waits while somebody has stopped the sinks of a shard, or is about to, and lets nobody do so until let_go_sinks.
SELECT pg_advisory_lock_shared(hashtextextended('answerscope_sinks', $1::int))
