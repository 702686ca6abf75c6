-- oauth_account: the active user of the grant $1, in the organization that they gave it for.
SELECT
    u.id,
    g.id AS grant_id,
    u.email::text AS email,
    g.organization_id,
    m.role,
    g.client_id,
    g.scopes
FROM private.oauth_grants AS g
JOIN private.users AS u ON u.id = g.user_id
JOIN public.members AS m
  ON m.user_id = g.user_id
 AND m.organization_id = g.organization_id
WHERE g.id = $1
  AND g.used_at IS NOT NULL
  AND u.is_active
