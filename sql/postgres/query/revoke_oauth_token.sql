-- revoke_oauth_token: ends the grant of the app $2 that is $3 or has the refresh token with the hash $1.
DELETE FROM private.oauth_grants AS g
WHERE g.client_id = $2
  AND (g.id = $3 OR g.id = (SELECT grant_id FROM private.oauth_refresh_tokens WHERE hash = $1))
