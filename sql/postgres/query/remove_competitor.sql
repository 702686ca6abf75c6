-- remove_competitor: deletes a competitor of a brand.
DELETE FROM public.competitors
WHERE brand_id = $1::uuid
  AND name = $2::text
RETURNING id
