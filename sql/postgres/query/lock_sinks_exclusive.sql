-- lock_sinks_exclusive: takes the sink lock of a shard exclusively, once no sink has it; ends with the connection.
SELECT pg_advisory_lock(hashtextextended('answerscope_sinks', $1::int))
