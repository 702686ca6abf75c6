-- reseal_signing_key: replaces the private key of $1 by the same key, encrypted anew.
UPDATE private.signing_keys
SET private_key = $2
WHERE id = $1
