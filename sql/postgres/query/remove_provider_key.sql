-- remove_provider_key: takes the key of the platform $2 from the organization $1.
DELETE FROM private.provider_keys
WHERE organization_id = $1
  AND platform = $2
RETURNING organization_id
