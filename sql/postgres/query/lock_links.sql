-- lock_links: serializes the transactions that invite or subscribe addresses for an organization.
SELECT pg_advisory_xact_lock(hashtextextended('links of ' || $1::uuid, 0))
