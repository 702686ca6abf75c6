-- anon_key: the key that clients of /rest/v1 send.
SELECT key
FROM private.anon_key
