-- leave_reread: lets go of a reread that is to go on after a pause of $3 seconds; $4 is why, empty for nothing.
UPDATE private.rereads
SET
    holder = NULL,
    held_until = clock_timestamp() + make_interval(secs => $3),
    last_error = coalesce(nullif(left($4, 1000), ''), last_error)
WHERE brand_id = $1
  AND holder = $2
