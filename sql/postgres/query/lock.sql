-- lock: serializes the transactions that lock the text $1.
SELECT pg_advisory_xact_lock(hashtextextended($1, 0))
