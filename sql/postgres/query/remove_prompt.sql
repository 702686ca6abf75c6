-- remove_prompt: deletes a prompt of a brand.
DELETE FROM public.prompts
WHERE brand_id = $1::uuid
  AND id = $2::uuid
RETURNING id
