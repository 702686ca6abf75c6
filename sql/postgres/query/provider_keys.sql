-- provider_keys: the keys of AI platforms of the organization $1; of all organizations where it is null.
SELECT
    organization_id,
    platform,
    sealed,
    last_characters
FROM private.provider_keys
WHERE $1::uuid IS NULL
   OR organization_id = $1
ORDER BY
    organization_id,
    platform
