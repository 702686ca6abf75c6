-- brand_platforms: where a brand's prompts are asked.
SELECT
    platform,
    coalesce(model, '') AS model
FROM public.brand_platforms
WHERE brand_id = $1
  AND is_enabled
ORDER BY platform, model
