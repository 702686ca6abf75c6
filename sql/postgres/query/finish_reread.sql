-- finish_reread: ends a run; $3 is an error text about answers that it could not read. The run of an edit is followed
-- by another one $4 seconds later, for answers that were under way with the earlier names. Answers of a page that a
-- killed process appended are counted as done.
UPDATE private.rereads
SET
    holder = NULL,
    held_until = NULL,
    finished_at = clock_timestamp(),
    done = greatest(done, total - left_over),
    last_error = nullif(left($3, 1000), ''),
    due_at = CASE
        WHEN asked_at IS NOT NULL THEN due_at
        WHEN urgent THEN clock_timestamp() + make_interval(secs => $4)
    END,
    urgent = asked_at IS NOT NULL AND urgent
WHERE brand_id = $1
  AND holder = $2
