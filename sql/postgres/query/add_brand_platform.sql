-- add_brand_platform: has a brand asked on a platform, with its default model where $3 is ''.
INSERT INTO public.brand_platforms (brand_id, platform, model, check_frequency)
VALUES ($1, $2, nullif($3, ''), $4)
