-- account_by_cookie: the active user of the session with the cookie hash $1. A session that was not used for an hour is
-- renewed.
WITH renewed AS (
    UPDATE private.sessions
    SET refreshed_at = now()
    WHERE cookie_hash = $1
      AND revoked_at IS NULL
      AND refreshed_at BETWEEN now() - INTERVAL '30 days' AND now() - INTERVAL '1 hour'
    RETURNING id
)
SELECT
    u.id,
    u.email::text AS email,
    m.organization_id,
    m.role,
    u.user_metadata,
    u.last_sign_in_at,
    u.created_at,
    u.updated_at,
    true AS signed_in,
    s.id AS session_id,
    EXISTS (
        SELECT
        FROM renewed) AS renewed
FROM private.sessions AS s
JOIN private.users AS u ON u.id = s.user_id
JOIN public.members AS m ON m.user_id = u.id
WHERE s.cookie_hash = $1
  AND s.revoked_at IS NULL
  AND s.refreshed_at > now() - INTERVAL '30 days'
  AND (s.expires_at IS NULL OR s.expires_at > now())
  AND u.is_active
