-- revoke_managed_key: revokes the key $1 as revoke_key does, if it belongs to the user $3 in the organization $2, or to
-- any user there if $4.
UPDATE public.api_keys
SET revoked_at = coalesce(revoked_at, now())
WHERE id = $1
  AND organization_id = $2
  AND (user_id = $3 OR $4::boolean)
RETURNING id
