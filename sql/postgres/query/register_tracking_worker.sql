-- register_tracking_worker: registers a process that works on tracking jobs for some seconds, with the platforms whose
-- keys are in its environment, and deletes expired registrations.
WITH expired AS (
    DELETE FROM private.tracking_workers WHERE expires_at <= clock_timestamp() AND id <> $1
)
INSERT INTO private.tracking_workers (id, platforms, expires_at)
VALUES ($1, $2, clock_timestamp() + make_interval(secs => $3))
ON CONFLICT (id) DO UPDATE SET
    platforms = excluded.platforms,
    expires_at = excluded.expires_at
