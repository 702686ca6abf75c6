-- clear_appended_answers: clears the stored copies of appended records, unless the sink lock is held exclusively, and
-- returns whether it did.
WITH sinks AS MATERIALIZED (
    SELECT pg_try_advisory_xact_lock_shared(hashtextextended('answerscope_sinks', 0)) AS are_free
), marked AS (
    UPDATE public.tracking_runs AS r
    SET
        state = CASE r.state WHEN 'answered' THEN 'done' ELSE r.state END,
        answer = NULL
    FROM sinks AS s
    WHERE s.are_free
      AND r.id = ANY ($1::uuid[])
)
SELECT are_free
FROM sinks
