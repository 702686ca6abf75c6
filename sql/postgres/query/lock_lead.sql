-- lock_lead: whether this connection now leads in something, until it ends.
SELECT pg_try_advisory_lock(hashtextextended('answerscope_lead ' || $1::text, 0)) AS locked
