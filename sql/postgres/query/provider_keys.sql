-- provider_keys: the keys of AI platforms of the organization $1.
SELECT
    organization_id,
    platform,
    sealed,
    last_characters
FROM private.provider_keys
WHERE organization_id = $1
ORDER BY platform
