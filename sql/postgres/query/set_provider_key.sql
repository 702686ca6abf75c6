-- set_provider_key: gives the organization $1 a key of the platform $2, encrypted, in place of the one that it has.
INSERT INTO private.provider_keys (organization_id, platform, sealed, last_characters)
VALUES ($1, $2, $3, $4)
ON CONFLICT (organization_id, platform) DO UPDATE
SET sealed = excluded.sealed,
    last_characters = excluded.last_characters,
    set_at = now()
