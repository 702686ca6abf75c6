-- prompts: the prompts of a brand with the names of their sets and topics, oldest first.
SELECT
    p.id,
    p.text,
    s.name AS set,
    coalesce(t.name, '') AS topic,
    p.platforms,
    p.models,
    p.regions,
    p.samples,
    p.is_branded,
    p.is_active
FROM public.prompts AS p
JOIN public.prompt_sets AS s ON s.id = p.prompt_set_id
LEFT JOIN public.topics AS t ON t.id = p.topic_id
WHERE p.brand_id = $1
ORDER BY
    p.created_at,
    p.id
