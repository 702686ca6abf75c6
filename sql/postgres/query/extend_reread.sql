-- extend_reread: extends the lease of a reread, and returns whether it was requested again.
UPDATE private.rereads
SET
    held_until = clock_timestamp() + make_interval(secs => $3),
    worked_at = clock_timestamp()
WHERE brand_id = $1
  AND holder = $2
RETURNING asked_at IS NOT NULL AS requested
