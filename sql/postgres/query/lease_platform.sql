-- lease_platform: leases a process its share of an account's limits (0: none) for some seconds: an equal share, less
-- the excess of others above theirs, and never less in flight than it has. Where processes know different limits, the
-- largest of each kind is the account's.
WITH expired AS (
    DELETE FROM private.platform_leases WHERE account = $1 AND expires_at <= clock_timestamp()
), others AS (
    SELECT
        count(*) AS holders,
        coalesce(sum(in_flight), 0) AS in_flight,
        coalesce(sum(requests_per_minute), 0) AS requests,
        coalesce(sum(tokens_per_minute), 0) AS tokens,
        greatest($3, max(max_in_flight)) AS max_in_flight,
        greatest($4, max(max_requests_per_minute)) AS max_requests,
        greatest($5, max(max_tokens_per_minute)) AS max_tokens
    FROM private.platform_leases
    WHERE account = $1
      AND holder <> $2
      AND expires_at > clock_timestamp()
), share AS (
    SELECT
        greatest($6, least(greatest(max_in_flight / (holders + 1), 1), max_in_flight - in_flight), 0)::int AS in_flight,
        greatest(least(max_requests / (holders + 1), max_requests - requests), 0)::float8 AS requests,
        greatest(least(max_tokens / (holders + 1), max_tokens - tokens), 0)::float8 AS tokens
    FROM others
)
INSERT INTO private.platform_leases (account, holder, in_flight, requests_per_minute, tokens_per_minute,
    max_in_flight, max_requests_per_minute, max_tokens_per_minute, expires_at)
SELECT $1, $2, in_flight, requests, tokens, $3, $4, $5, clock_timestamp() + make_interval(secs => $7)
FROM share
ON CONFLICT (account, holder) DO UPDATE SET
    in_flight = excluded.in_flight,
    requests_per_minute = excluded.requests_per_minute,
    tokens_per_minute = excluded.tokens_per_minute,
    max_in_flight = excluded.max_in_flight,
    max_requests_per_minute = excluded.max_requests_per_minute,
    max_tokens_per_minute = excluded.max_tokens_per_minute,
    expires_at = excluded.expires_at
RETURNING in_flight, requests_per_minute, tokens_per_minute
