-- set_provider_key: sets the organization $1's encrypted key of the platform $2, in place of any.
INSERT INTO private.provider_keys (organization_id, platform, sealed, last_characters)
VALUES ($1, $2, $3, $4)
ON CONFLICT (organization_id, platform) DO UPDATE
SET sealed = excluded.sealed,
    last_characters = excluded.last_characters,
    set_at = now()
