-- add_anon_key: keeps the key that clients of /rest/v1 send, unless there is one.
INSERT INTO private.anon_key (key)
VALUES ($1)
ON CONFLICT DO NOTHING
