-- resolve_key: the user of the working key with the hash.
SELECT
    k.id AS key_id,
    k.user_id,
    u.email::text AS email,
    k.organization_id,
    m.role,
    k.scopes,
    coalesce(k.last_used_at < now() - INTERVAL '1 minute', true) AS use_due
FROM private.api_key_hashes AS h
JOIN public.api_keys AS k ON k.id = h.api_key_id
JOIN private.users AS u ON u.id = k.user_id
JOIN public.members AS m
  ON m.user_id = k.user_id
 AND m.organization_id = k.organization_id
WHERE h.hash = $1
  AND k.revoked_at IS NULL
  AND (k.expires_at IS NULL OR k.expires_at > now())
  AND u.is_active
