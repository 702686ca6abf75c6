-- lock_spending: serializes the starts of an organization's jobs, so that each sees the spending of the others.
SELECT pg_advisory_xact_lock(hashtextextended('spending of ' || $1::uuid, 0))
