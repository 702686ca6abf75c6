-- register_tracking_worker: says that a process works on tracking jobs for some seconds, and which platforms' keys are in its
-- environment; and forgets those that say so no more.
WITH gone AS (
    DELETE FROM private.tracking_workers WHERE expires_at <= clock_timestamp() AND id <> $1
)
INSERT INTO private.tracking_workers (id, platforms, expires_at)
VALUES ($1, $2, clock_timestamp() + make_interval(secs => $3))
ON CONFLICT (id) DO UPDATE SET
    platforms = excluded.platforms,
    expires_at = excluded.expires_at
