-- add_brand_platform: has a brand asked on a platform, if it is not yet.
INSERT INTO public.brand_platforms (brand_id, platform, check_frequency)
VALUES ($1, $2, $3)
ON CONFLICT (brand_id, platform, model) DO NOTHING
