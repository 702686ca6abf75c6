-- lock_outbox: whether this connection is now the only reader of the outbox, until it ends.
SELECT pg_try_advisory_lock(hashtextextended('answerscope_outbox', 0)) AS locked
