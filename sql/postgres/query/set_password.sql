-- set_password: replaces the password hash of the user with the email $1, and ends their sessions but $3.
WITH changed AS (
    UPDATE private.users
    SET
        password_hash = $2::text,
        is_unproven = false
    WHERE email OPERATOR(private.=) $1::text::private.citext
    RETURNING id
), ended AS (
    UPDATE private.sessions
    SET revoked_at = now()
    WHERE user_id = (SELECT id FROM changed)
      AND revoked_at IS NULL
      AND id <> $3::uuid
)
SELECT id
FROM changed
