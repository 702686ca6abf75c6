-- anon_key: the key that clients of /rest/v1 send, its predecessors, and whether its signing key still exists.
SELECT
    a.key,
    a.earlier,
    EXISTS (SELECT FROM private.signing_keys AS s WHERE s.id = a.signing_key) AS verifies
FROM private.anon_key AS a
