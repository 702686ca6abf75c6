-- chores: since when the chores $1 have been known, and when they last succeeded.
SELECT
    name,
    known_since,
    succeeded_at
FROM private.chores
WHERE name = ANY($1::text[])
