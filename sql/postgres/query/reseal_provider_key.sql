-- reseal_provider_key: replaces the key of the platform $2 of the organization $1 by the same key, encrypted anew,
-- unless it was set since.
UPDATE private.provider_keys
SET sealed = $4
WHERE organization_id = $1
  AND platform = $2
  AND sealed = $3
