-- edit_prompt: changes what is not null of a prompt of a brand; '' is no topic.
UPDATE public.prompts AS p
SET text = coalesce($3::text, p.text),
    topic_id = CASE
        WHEN $4::text IS NULL THEN p.topic_id
        ELSE (SELECT t.id FROM public.topics AS t WHERE t.brand_id = p.brand_id AND t.name = $4::text)
    END,
    samples = coalesce($5::int, p.samples),
    is_active = coalesce($6::bool, p.is_active)
WHERE p.brand_id = $1::uuid
  AND p.id = $2::uuid
RETURNING p.id
