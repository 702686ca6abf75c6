-- set_user_active: enables or disables the user with the email $1; disabling ends their sessions.
WITH changed AS (
    UPDATE private.users
    SET is_active = $2::bool
    WHERE email OPERATOR(private.=) $1::text::private.citext
    RETURNING id
), ended AS (
    UPDATE private.sessions
    SET revoked_at = now()
    WHERE user_id = (SELECT id FROM changed)
      AND revoked_at IS NULL
      AND NOT $2::bool
)
SELECT id
FROM changed
