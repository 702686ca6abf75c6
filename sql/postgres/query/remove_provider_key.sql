-- remove_provider_key: deletes the key of the platform $2 of the organization $1.
DELETE FROM private.provider_keys
WHERE organization_id = $1
  AND platform = $2
RETURNING organization_id
