-- add_prompt: adds a prompt to a set of a brand, with its topic ('': none).
INSERT INTO public.prompts (brand_id, prompt_set_id, topic_id, text, platforms, models, regions, samples, is_branded)
VALUES (
    $1::uuid,
    $2::uuid,
    (SELECT t.id FROM public.topics AS t WHERE t.brand_id = $1::uuid AND t.name = $3::text),
    $4::text,
    $5::text[],
    $6::text[],
    $7::text[],
    $8::int,
    $9::bool)
RETURNING id
