-- revoke_key: revokes a key; the first revocation counts.
UPDATE public.api_keys
SET revoked_at = coalesce(revoked_at, now())
WHERE id = $1
RETURNING id
