-- mark_appended: lets go of records that the log has.
UPDATE public.tracking_runs
SET
    state = CASE state WHEN 'answered' THEN 'done' ELSE state END,
    answer = NULL
WHERE id = ANY ($1::uuid[])
