-- lease_reread: leases the most urgent reread that is due and not leased; of these the one that was worked on longest
-- ago. A new request, or a run that has ended, starts a new run.
UPDATE private.rereads AS r
SET
    holder = $1,
    held_until = clock_timestamp() + make_interval(secs => $2),
    worked_at = clock_timestamp(),
    asked_at = NULL,
    started_at = CASE WHEN next.from_start THEN clock_timestamp() ELSE r.started_at END,
    finished_at = NULL,
    cursor_day = CASE WHEN NOT next.from_start THEN r.cursor_day END,
    cursor_id = CASE WHEN NOT next.from_start THEN r.cursor_id END,
    done = CASE WHEN next.from_start THEN 0 ELSE r.done END,
    total = CASE WHEN next.from_start THEN 0 ELSE r.total END,
    left_over = CASE WHEN next.from_start THEN 0 ELSE r.left_over END,
    last_error = CASE WHEN NOT next.from_start THEN r.last_error END
FROM (
    SELECT
        brand_id,
        asked_at IS NOT NULL OR started_at IS NULL OR finished_at IS NOT NULL AS from_start
    FROM private.rereads
    WHERE due_at <= clock_timestamp()
      AND coalesce(held_until <= clock_timestamp(), true)
    ORDER BY urgent DESC, worked_at NULLS FIRST, due_at
    LIMIT 1
    FOR UPDATE SKIP LOCKED
) AS next
WHERE r.brand_id = next.brand_id
RETURNING
    r.brand_id,
    r.organization_id,
    next.from_start,
    coalesce(r.first_day, '1970-01-01')::date AS first_day,
    coalesce(r.last_day, '2149-06-06')::date AS last_day,
    r.cursor_day,
    r.cursor_id,
    r.left_over
