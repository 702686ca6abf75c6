-- add_oauth_refresh_token: gives the grant $1 its next refresh token, with the hash $3, in place of that with the hash
-- $2, if it has one, and deletes tokens that are too old to recognize reuse.
WITH used AS (
    UPDATE private.oauth_refresh_tokens
    SET used_at = clock_timestamp()
    WHERE hash = $2
), expired AS (
    DELETE FROM private.oauth_refresh_tokens
    WHERE grant_id = $1
      AND created_at < now() - INTERVAL '30 days'
), refreshed AS (
    UPDATE private.oauth_grants
    SET used_at = now()
    WHERE id = $1
)
INSERT INTO private.oauth_refresh_tokens (hash, grant_id)
VALUES ($3, $1)
