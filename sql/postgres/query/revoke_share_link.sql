-- revoke_share_link: revokes a share link; the first revocation counts.
UPDATE public.share_links
SET revoked_at = coalesce(revoked_at, now())
WHERE id = $1
