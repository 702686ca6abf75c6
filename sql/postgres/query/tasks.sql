-- tasks: when each of the scheduled tasks $1 was added, and when it last succeeded.
SELECT
    name,
    known_since,
    succeeded_at
FROM private.tasks
WHERE name = ANY($1::text[])
