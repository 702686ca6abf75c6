-- add_prompts: adds prompts to a set of a brand, each with its topic, '' for none.
INSERT INTO public.prompts (brand_id, prompt_set_id, topic_id, text)
SELECT
    $1::uuid,
    $2::uuid,
    t.id,
    given.text
FROM unnest($3::text[], $4::text[]) AS given (text, topic)
LEFT JOIN public.topics AS t
       ON t.brand_id = $1::uuid
      AND t.name = given.topic
