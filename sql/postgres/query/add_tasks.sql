-- add_tasks: adds the scheduled tasks of $1 that are missing.
INSERT INTO private.tasks (name)
SELECT unnest($1::text[])
ON CONFLICT (name) DO NOTHING
