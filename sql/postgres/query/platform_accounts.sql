-- platform_accounts: what the platforms' answers say of the accounts $1.
SELECT
    account,
    requests_per_minute,
    tokens_per_minute,
    tokens_per_answer,
    greatest(extract(epoch FROM closed_until - clock_timestamp()), 0)::float8 AS closed_seconds
FROM private.platform_accounts
WHERE account = ANY ($1::text[])
