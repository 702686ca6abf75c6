-- lock_platform: serializes the leases of an account's limits.
SELECT pg_advisory_xact_lock(hashtextextended('leases of ' || $1::text, 0))
