-- rotate_refresh_token: marks the refresh token with the hash $1 as used, adds its successor with the hash $3 to the
-- session $2, and deletes tokens that are too old to recognize reuse.
WITH used AS (
    UPDATE private.refresh_tokens
    SET used_at = clock_timestamp()
    WHERE hash = $1
), expired AS (
    DELETE FROM private.refresh_tokens
    WHERE session_id = $2
      AND created_at < now() - INTERVAL '30 days'
), refreshed AS (
    UPDATE private.sessions
    SET refreshed_at = now()
    WHERE id = $2
)
INSERT INTO private.refresh_tokens (hash, session_id)
VALUES ($3, $2)
