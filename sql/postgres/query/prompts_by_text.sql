-- prompts_by_text: the oldest prompt of a brand for each text that has one.
SELECT DISTINCT ON (p.text)
    p.id,
    p.text,
    p.prompt_set_id,
    p.topic_id,
    p.is_branded
FROM public.prompts AS p
WHERE p.brand_id = $1
  AND p.text = ANY ($2::text[])
ORDER BY
    p.text,
    p.created_at,
    p.id
