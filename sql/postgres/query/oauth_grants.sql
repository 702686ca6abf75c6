-- oauth_grants: the apps that the user $2 of the organization $1 has connected, or all its users if $3, oldest first.
SELECT
    g.id,
    g.client_id,
    g.client_name AS name,
    g.redirect_uri,
    g.scopes,
    u.email::text AS email,
    g.created_at,
    g.used_at
FROM private.oauth_grants AS g
JOIN private.users AS u ON u.id = g.user_id
WHERE g.organization_id = $1
  AND (g.user_id = $2 OR $3::boolean)
  AND g.used_at > now() - INTERVAL '30 days'
ORDER BY
    g.created_at,
    g.id
