-- add_brand: adds a brand; an empty slug is made from its name.
INSERT INTO public.brands (organization_id, name, slug, industry, region, language, aliases)
VALUES ($1, $2, $3, nullif($4, ''), nullif($5, ''), nullif($6, ''), $7)
RETURNING
    id,
    organization_id,
    name,
    slug,
    coalesce(industry, '') AS industry,
    coalesce(region, '') AS region,
    coalesce(language, '') AS language,
    is_active,
    created_at
