-- lease_platform: leases a process its share of an account's limits (0: none) for some seconds: an equal share, less
-- the excess of others above theirs, and never less in flight than it has.
WITH expired AS (
    DELETE FROM private.platform_leases WHERE account = $1 AND expires_at <= clock_timestamp()
), others AS (
    SELECT
        count(*) AS holders,
        coalesce(sum(in_flight), 0) AS in_flight,
        coalesce(sum(per_minute), 0) AS per_minute
    FROM private.platform_leases
    WHERE account = $1
      AND holder <> $2
      AND expires_at > clock_timestamp()
), share AS (
    SELECT
        greatest($5, least(greatest($3 / (holders + 1), 1), $3 - in_flight), 0)::int AS in_flight,
        greatest(least($4 / (holders + 1), $4 - per_minute), 0)::float8 AS per_minute
    FROM others
)
INSERT INTO private.platform_leases (account, holder, in_flight, per_minute, expires_at)
SELECT $1, $2, in_flight, per_minute, clock_timestamp() + make_interval(secs => $6)
FROM share
ON CONFLICT (account, holder) DO UPDATE SET
    in_flight = excluded.in_flight,
    per_minute = excluded.per_minute,
    expires_at = excluded.expires_at
RETURNING in_flight, per_minute
