-- lock_organization: serializes the transactions that change the $2 of the organization $1, such as its webhooks.
SELECT pg_advisory_xact_lock(hashtextextended($2::text || ' of ' || $1::uuid, 0))
