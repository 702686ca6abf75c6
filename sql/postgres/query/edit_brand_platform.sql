-- edit_brand_platform: changes the columns whose parameter is not null; the platform has its default model where $3 is
-- ''.
UPDATE public.brand_platforms
SET check_frequency = coalesce($4::text, check_frequency),
    is_enabled = coalesce($5::bool, is_enabled)
WHERE brand_id = $1
  AND platform = $2
  AND model IS NOT DISTINCT FROM nullif($3, '')
RETURNING id
