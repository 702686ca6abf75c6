-- lock_lead: takes the lock of the lead of $1 for this connection, if it is free.
SELECT pg_try_advisory_lock(hashtextextended('answerscope_lead ' || $1::text, 0)) AS locked
