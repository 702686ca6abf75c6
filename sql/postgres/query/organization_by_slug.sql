-- organization_by_slug: the organization with the slug.
SELECT
    id,
    name,
    slug,
    time_zone,
    created_at
FROM public.organizations
WHERE slug = $1
