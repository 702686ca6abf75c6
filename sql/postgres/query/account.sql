-- account: the active user $1 in their organization, and whether the session $2 is theirs and was not revoked. The grant of an app that may
-- start runs is one too: a token that names it is made to ask the tracking server for the app, and stays within our processes.
SELECT
    u.id,
    u.email::text AS email,
    m.organization_id,
    m.role,
    u.user_metadata,
    u.last_sign_in_at,
    u.created_at,
    u.updated_at,
    EXISTS (
        SELECT
        FROM private.sessions AS s
        WHERE s.id = $2
          AND s.user_id = u.id
          AND s.revoked_at IS NULL
          AND (s.expires_at IS NULL OR s.expires_at > now()))
        OR EXISTS (
        SELECT
        FROM private.oauth_grants AS g
        WHERE g.id = $2
          AND g.user_id = u.id
          AND g.organization_id = m.organization_id
          AND g.used_at IS NOT NULL
          AND 'tracking:write' = ANY (g.scopes)) AS signed_in
FROM private.users AS u
JOIN public.members AS m ON m.user_id = u.id
WHERE u.id = $1
  AND u.is_active
