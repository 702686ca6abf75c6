-- add_signing_key: adds a key of access tokens, and deletes keys older than $4 that did not sign the anon key.
WITH dropped AS (
    DELETE FROM private.signing_keys
    WHERE created_at < now() - $4::interval
      AND id NOT IN (SELECT signing_key FROM private.anon_key)
)
INSERT INTO private.signing_keys (id, public_key, private_key)
VALUES ($1, $2, $3)
