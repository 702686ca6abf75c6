-- set_panel_platforms: asks a panel daily on the platforms and models of brands of organizations other than $4, as far
-- as $2 has the platform, and on the default model of each platform in $3 that no brand has. It stops the panel on all
-- others.
WITH in_use AS (
    SELECT DISTINCT
        p.platform,
        p.model
    FROM public.brand_platforms AS p
    JOIN public.brands AS b ON b.id = p.brand_id
    WHERE b.organization_id <> $4::uuid
      AND p.is_enabled
      AND b.is_active
      AND p.platform = ANY ($2::text[])
), wanted AS (
    SELECT
        platform,
        model
    FROM in_use
    UNION ALL
    SELECT
        platform,
        NULL
    FROM unnest($3::text[]) AS input (platform)
    WHERE platform NOT IN (SELECT u.platform FROM in_use AS u)
), stopped AS (
    UPDATE public.brand_platforms AS p
    SET is_enabled = false
    WHERE p.brand_id = $1::uuid
      AND p.is_enabled
      AND NOT EXISTS (
          SELECT FROM wanted AS w WHERE w.platform = p.platform AND w.model IS NOT DISTINCT FROM p.model)
)
INSERT INTO public.brand_platforms AS p (brand_id, platform, model, check_frequency)
SELECT
    $1::uuid,
    platform,
    model,
    'daily'
FROM wanted
ON CONFLICT (brand_id, platform, model) DO UPDATE
SET is_enabled = true
WHERE NOT p.is_enabled
