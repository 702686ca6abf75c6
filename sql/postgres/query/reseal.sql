-- reseal: replaces the encrypted value $1 by $2, unless its row has another one by now.
WITH signing_keys AS (
    UPDATE private.signing_keys SET private_key = $2 WHERE private_key = $1
), provider_keys AS (
    UPDATE private.provider_keys SET sealed = $2 WHERE sealed = $1
), webhook_secrets AS (
    UPDATE private.webhook_secrets SET sealed = $2 WHERE sealed = $1
)
UPDATE private.mails SET sealed = $2 WHERE sealed = $1 AND status = 'pending'
