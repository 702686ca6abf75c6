-- add_prompts: adds prompts to a set of a brand, each with its topic ('': none).
INSERT INTO public.prompts (brand_id, prompt_set_id, topic_id, text)
SELECT
    $1::uuid,
    $2::uuid,
    t.id,
    input.text
FROM unnest($3::text[], $4::text[]) AS input (text, topic)
LEFT JOIN public.topics AS t
       ON t.brand_id = $1::uuid
      AND t.name = input.topic
