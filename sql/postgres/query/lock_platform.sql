-- lock_platform: serializes the leases of the account $1. It stores what a process has learnt of the account since its
-- last lease (0: nothing), and returns what all have.
INSERT INTO private.platform_accounts AS stored
    (account, requests_per_minute, tokens_per_minute, tokens_per_answer, closed_until)
VALUES ($1, $2, $3, $4, clock_timestamp() + make_interval(secs => $5))
ON CONFLICT (account) DO UPDATE SET
    requests_per_minute = coalesce(nullif(excluded.requests_per_minute, 0), stored.requests_per_minute),
    tokens_per_minute = coalesce(nullif(excluded.tokens_per_minute, 0), stored.tokens_per_minute),
    tokens_per_answer = coalesce(nullif(excluded.tokens_per_answer, 0), stored.tokens_per_answer),
    closed_until = greatest(excluded.closed_until, stored.closed_until)
RETURNING
    account,
    requests_per_minute,
    tokens_per_minute,
    tokens_per_answer,
    greatest(extract(epoch FROM closed_until - clock_timestamp()), 0)::float8 AS closed_seconds
