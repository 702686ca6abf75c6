-- webhook_secrets: every secret of an endpoint, encrypted.
SELECT
    id,
    endpoint_id,
    sealed
FROM private.webhook_secrets
ORDER BY id
