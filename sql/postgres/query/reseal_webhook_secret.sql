-- reseal_webhook_secret: replaces a secret by the same secret, encrypted anew.
UPDATE private.webhook_secrets
SET sealed = $2
WHERE id = $1
