-- brands: the brands of the organization $1, of the id $2 and the slug $3 where those are not null, by name.
SELECT
    id,
    organization_id,
    name,
    slug,
    coalesce(industry, '') AS industry,
    coalesce(region, '') AS region,
    coalesce(language, '') AS language,
    is_active,
    created_at
FROM public.brands
WHERE organization_id = $1
  AND ($2::uuid IS NULL OR id = $2)
  AND ($3::text IS NULL OR slug = $3)
ORDER BY
    name COLLATE "C",
    id
