-- lock_platform: lets one process at a time lease a part of an account's limits.
SELECT pg_advisory_xact_lock(hashtextextended('leases of ' || $1::text, 0))
