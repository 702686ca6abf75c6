-- chore_succeeded: chore $1 has just succeeded.
INSERT INTO private.chores (name, succeeded_at)
VALUES ($1, clock_timestamp())
ON CONFLICT (name) DO UPDATE SET succeeded_at = excluded.succeeded_at
