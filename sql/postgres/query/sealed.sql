-- sealed: every encrypted value, with the name that it is bound to; of mails those that wait.
SELECT 'signing key ' || id AS name, private_key AS sealed FROM private.signing_keys
UNION ALL
SELECT 'provider key ' || organization_id || ' ' || platform, sealed FROM private.provider_keys
UNION ALL
SELECT endpoint_id::text, sealed FROM private.webhook_secrets
UNION ALL
SELECT recipient::text, sealed FROM private.mails WHERE status = 'pending' AND sealed IS NOT NULL
