-- remove_brand: deletes a brand with everything that belongs to it.
DELETE FROM public.brands
WHERE id = $1::uuid
RETURNING id
