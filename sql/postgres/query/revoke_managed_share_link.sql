-- revoke_managed_share_link: revokes the share link $1 as revoke_share_link does, if the user $3 made it in the
-- organization $2, or any user there if $4.
UPDATE public.share_links
SET revoked_at = coalesce(revoked_at, now())
WHERE id = $1
  AND organization_id = $2
  AND (created_by = $3 OR $4::boolean)
