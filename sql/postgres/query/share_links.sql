-- share_links: the links of an organization, revoked ones too, oldest first.
SELECT
    s.id,
    b.slug AS brand,
    s.title,
    s.screens,
    s.filters,
    s.embed_origins,
    s.has_password,
    coalesce(u.email::text, '') AS created_by,
    s.created_at,
    s.expires_at,
    s.revoked_at,
    s.last_used_at
FROM public.share_links AS s
JOIN public.brands AS b ON b.id = s.brand_id
LEFT JOIN private.users AS u ON u.id = s.created_by
WHERE s.organization_id = $1
ORDER BY
    s.created_at,
    s.id
