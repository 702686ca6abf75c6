-- add_oauth_grant: adds what the user $1 of the organization $2 lets the app $3 with the name $4 do, at the redirect URI
-- $5, with the scopes $6, the challenge $7 and the code with the hash $8; deletes grants that have expired.
WITH expired AS (
    DELETE FROM private.oauth_grants
    WHERE coalesce(used_at + INTERVAL '30 days', created_at + INTERVAL '1 hour') < now()
), used AS (
    UPDATE private.oauth_clients
    SET used_at = now()
    WHERE id::text = $3::text
)
INSERT INTO private.oauth_grants (user_id, organization_id, client_id, client_name, redirect_uri, scopes, challenge, code_hash)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
