-- reseal_signing_key: gives the key $1 of access tokens its private key encrypted anew, $2.
UPDATE private.signing_keys
SET private_key = $2
WHERE id = $1
