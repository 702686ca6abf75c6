-- signing_keys: the keys of access tokens, the newest first.
SELECT
    id,
    public_key,
    private_key,
    created_at
FROM private.signing_keys
ORDER BY
    created_at DESC,
    id
