-- revoke_key: ends a key; the first revocation is the one that counts.
UPDATE public.api_keys
SET revoked_at = coalesce(revoked_at, now())
WHERE id = $1
RETURNING id
