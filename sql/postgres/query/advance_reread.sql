-- advance_reread: saves the progress of a reread after a page, and returns whether it was requested again. Day and id
-- are null at the start.
UPDATE private.rereads
SET
    cursor_day = $3,
    cursor_id = $4,
    done = done + $5,
    total = greatest(total, done + $5),
    left_over = left_over + $6,
    revision = $7,
    extract_version = $8,
    held_until = clock_timestamp() + make_interval(secs => $9),
    worked_at = clock_timestamp(),
    last_error = NULL
WHERE brand_id = $1
  AND holder = $2
RETURNING asked_at IS NOT NULL AS requested
