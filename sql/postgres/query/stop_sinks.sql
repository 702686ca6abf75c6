-- stop_sinks: waits until no sink of a shard has a batch under way, while none begins another, and keeps it so until the connection ends.
SELECT pg_advisory_lock(hashtextextended('answerscope_sinks', $1::int))
