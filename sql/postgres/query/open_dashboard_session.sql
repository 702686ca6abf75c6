-- open_dashboard_session: signs the active user $1 in to the dashboard, with a cookie with the hash $2, for the time $3
-- unless that is zero, and deletes expired sessions.
WITH ended AS (
    DELETE FROM private.sessions
    WHERE user_id = $1
      AND refreshed_at < now() - INTERVAL '30 days'
), signed_in AS (
    UPDATE private.users
    SET last_sign_in_at = now()
    WHERE id = $1
      AND is_active
    RETURNING id
)
INSERT INTO private.sessions (user_id, cookie_hash, expires_at)
SELECT
    id,
    $2::bytea,
    now() + nullif($3::interval, INTERVAL '0')
FROM signed_in
RETURNING id
