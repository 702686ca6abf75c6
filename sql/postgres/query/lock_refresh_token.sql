-- lock_refresh_token: locks the refresh token with the hash $1, if its session was not revoked, so that one request
-- uses it. Of two requests that overlap, as of two pages, the second has overlapped: it began before the first used the
-- token.
SELECT
    t.session_id,
    s.user_id,
    t.used_at IS NOT NULL AS used,
    coalesce(t.used_at > now(), false) AS overlapped
FROM private.refresh_tokens AS t
JOIN private.sessions AS s ON s.id = t.session_id
WHERE t.hash = $1
  AND t.created_at > now() - INTERVAL '30 days'
  AND s.revoked_at IS NULL
FOR UPDATE OF t
