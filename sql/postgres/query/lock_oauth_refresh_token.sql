-- lock_oauth_refresh_token: locks the refresh token with the hash $1 of the app $2, so that one request uses it. Of two
-- requests that overlap the second has overlapped: it began before the first used the token.
SELECT
    g.id AS grant_id,
    g.user_id,
    t.used_at IS NOT NULL AS used,
    coalesce(t.used_at > now(), false) AS overlapped,
    true AS matches
FROM private.oauth_refresh_tokens AS t
JOIN private.oauth_grants AS g ON g.id = t.grant_id
WHERE t.hash = $1
  AND g.client_id = $2
  AND t.created_at > now() - INTERVAL '30 days'
FOR UPDATE OF t
