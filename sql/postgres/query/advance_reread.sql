-- advance_reread: stores the progress of a reread after a page, extends its lease by $3 seconds, and returns whether it
-- was requested again. Day and id of the cursor are null at the start.
UPDATE private.rereads
SET
    cursor_day = $4,
    cursor_id = $5,
    done = done + $6,
    total = greatest(total, done + $6),
    left_over = left_over + $7,
    revision = $8,
    extract_version = $9,
    held_until = clock_timestamp() + make_interval(secs => $3),
    worked_at = clock_timestamp(),
    last_error = NULL
WHERE brand_id = $1
  AND holder = $2
RETURNING asked_at IS NOT NULL AS requested
