-- lock_spending: lets one start of tracking at a time see what an organization has spent, and spend more.
SELECT pg_advisory_xact_lock(hashtextextended('spending of ' || $1::uuid, 0))
