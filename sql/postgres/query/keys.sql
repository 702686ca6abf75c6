-- keys: the keys of an organization, oldest first.
SELECT
    k.id,
    k.organization_id,
    k.user_id,
    u.email::text AS email,
    k.name,
    k.prefix,
    k.scopes,
    k.created_at,
    k.expires_at,
    k.last_used_at,
    k.revoked_at
FROM public.api_keys AS k
JOIN private.users AS u ON u.id = k.user_id
WHERE k.organization_id = $1
ORDER BY
    k.created_at,
    k.id
