-- brand_by_slug: the brand of an organization with the slug.
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
  AND slug = $2
