-- add_tasks: adds those of the scheduled tasks $1 that are not known yet.
INSERT INTO private.tasks (name)
SELECT unnest($1::text[])
ON CONFLICT (name) DO NOTHING
