-- lock_outbox: waits to be the only reader of the outbox, until this connection ends.
SELECT pg_advisory_lock(hashtextextended('answerscope_outbox', 0))
