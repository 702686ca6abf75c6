-- edit_prompt: changes the columns whose parameter is not null; '' is no topic, an empty list means the brand's.
UPDATE public.prompts AS p
SET text = coalesce($3::text, p.text),
    prompt_set_id = coalesce($4::uuid, p.prompt_set_id),
    topic_id = CASE
        WHEN $5::text IS NULL THEN p.topic_id
        ELSE (SELECT t.id FROM public.topics AS t WHERE t.brand_id = p.brand_id AND t.name = $5::text)
    END,
    platforms = coalesce($6::text[], p.platforms),
    models = coalesce($7::text[], p.models),
    regions = coalesce($8::text[], p.regions),
    samples = coalesce($9::int, p.samples),
    is_branded = coalesce($10::bool, p.is_branded),
    is_active = coalesce($11::bool, p.is_active)
WHERE p.brand_id = $1::uuid
  AND p.id = $2::uuid
RETURNING p.id
