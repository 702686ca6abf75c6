-- release_platforms: gives back all that a process has leased; it works on no jobs any more.
WITH gone AS (
    DELETE FROM private.tracking_workers WHERE id = $1
)
DELETE FROM private.platform_leases
WHERE holder = $1
