-- pause_reread: ends the lease of a reread that goes on after $3 seconds; $4 is an error text, empty for none.
UPDATE private.rereads
SET
    holder = NULL,
    held_until = clock_timestamp() + make_interval(secs => $3),
    last_error = coalesce(nullif(left($4, 1000), ''), last_error)
WHERE brand_id = $1
  AND holder = $2
