-- share_link: the link that works with the token hash $1, and its brand.
SELECT
    s.id,
    s.organization_id,
    s.brand_id,
    b.name AS brand_name,
    b.slug AS brand_slug,
    s.title,
    s.screens,
    s.filters,
    s.embed_origins,
    coalesce(h.password_hash, '') AS password_hash,
    coalesce(s.last_used_at = date_trunc('hour', now()), false) AS is_recorded
FROM private.share_link_hashes AS h
JOIN public.share_links AS s ON s.id = h.share_link_id
JOIN public.brands AS b ON b.id = s.brand_id
WHERE h.hash = $1
  AND s.revoked_at IS NULL
  AND coalesce(s.expires_at > now(), true)
