-- lock_webhooks: serializes the transactions that add endpoints to an organization or rotate their secrets.
SELECT pg_advisory_xact_lock(hashtextextended('webhooks of ' || $1::uuid, 0))
