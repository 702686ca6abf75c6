-- rotate_refresh_token: uses the refresh token of the hash $1 of the session $2 up, whose next one has the hash $3, and
-- forgets those that are too old to recognize a used one by.
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
