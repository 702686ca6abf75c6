-- revoke_share_link: revokes the link $1, if the user $3 made it in the organization $2, or whoever made it there if $4,
-- or in any organization if that is nil; the first revocation counts.
UPDATE public.share_links
SET revoked_at = coalesce(revoked_at, now())
WHERE id = $1
  AND (organization_id = $2 OR $2 = '00000000-0000-0000-0000-000000000000')
  AND (created_by = $3 OR $4::boolean)
