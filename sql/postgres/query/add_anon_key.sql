-- add_anon_key: stores $1, signed by $2, as the key that clients of /rest/v1 send, in place of $3 if one exists.
INSERT INTO private.anon_key AS a (key, signing_key)
VALUES ($1, $2)
ON CONFLICT (is_only) DO UPDATE
SET key = EXCLUDED.key,
    signing_key = EXCLUDED.signing_key,
    earlier = a.earlier || a.key
WHERE a.key = $3
