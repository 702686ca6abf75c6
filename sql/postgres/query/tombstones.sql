-- tombstones: the tombstones that are due to be purged: never purged, not since $1 seconds after their deletion, or not
-- for $2 seconds.
SELECT
    kind,
    id,
    organization_id,
    at,
    purged_at,
    now() AS read_at
FROM private.tombstones
WHERE purged_at IS NULL
   OR purged_at < at + make_interval(secs => $1) AND at + make_interval(secs => $1) <= now()
   OR purged_at < now() - make_interval(secs => $2)
ORDER BY at, kind, id
LIMIT $3
