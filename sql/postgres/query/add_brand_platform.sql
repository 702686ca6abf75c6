-- add_brand_platform: adds a platform to a brand, with its default model where $3 is ''.
INSERT INTO public.brand_platforms (brand_id, platform, model, check_frequency)
VALUES ($1, $2, nullif($3, ''), $4)
