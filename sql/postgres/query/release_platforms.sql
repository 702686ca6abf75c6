-- release_platforms: deletes a process's leases and registration.
WITH unregistered AS (
    DELETE FROM private.tracking_workers WHERE id = $1
)
DELETE FROM private.platform_leases
WHERE holder = $1
