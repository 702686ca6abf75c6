-- keys: the keys of the user $2 in an organization, or of all its users if $3, oldest first.
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
  AND (k.user_id = $2 OR $3::boolean)
ORDER BY
    k.created_at,
    k.id
