-- open_session: signs the active user $1 in, with a first refresh token with the hash $2, and deletes expired sessions.
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
), opened AS (
    INSERT INTO private.sessions (user_id)
    SELECT id
    FROM signed_in
    RETURNING id
)
INSERT INTO private.refresh_tokens (hash, session_id)
SELECT
    $2::bytea,
    id
FROM opened
RETURNING session_id
