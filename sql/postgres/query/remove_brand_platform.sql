-- remove_brand_platform: removes a platform from a brand, with its default model where $3 is ''.
DELETE FROM public.brand_platforms
WHERE brand_id = $1
  AND platform = $2
  AND model IS NOT DISTINCT FROM nullif($3, '')
RETURNING id
