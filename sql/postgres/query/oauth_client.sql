-- oauth_client: the registered app $1.
SELECT
    id::text AS id,
    name,
    redirect_uris
FROM private.oauth_clients
WHERE id = $1
