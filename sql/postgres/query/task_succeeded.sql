-- task_succeeded: records that the scheduled task $1 succeeded just now.
INSERT INTO private.tasks (name, succeeded_at)
VALUES ($1, clock_timestamp())
ON CONFLICT (name) DO UPDATE SET succeeded_at = excluded.succeeded_at
