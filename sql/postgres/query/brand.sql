-- brand: one brand of an organization.
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
  AND id = $2
