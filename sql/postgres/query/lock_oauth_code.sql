-- lock_oauth_code: locks the grant of the code with the hash $1, so that one request uses the code. It matches if it is
-- 60 seconds old at most, and was made for the app $2, the redirect URI $3 and the challenge $4.
SELECT
    id AS grant_id,
    user_id,
    used_at IS NOT NULL AS used,
    false AS overlapped,
    client_id = $2
        AND redirect_uri = $3
        AND challenge = $4
        AND created_at > now() - INTERVAL '60 seconds' AS matches
FROM private.oauth_grants
WHERE code_hash = $1
FOR UPDATE
