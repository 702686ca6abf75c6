-- prompts_to_ask: the active prompts of a brand's active sets, the oldest of each text; only those with the ids $2, if
-- there are any.
SELECT DISTINCT ON (p.text)
    p.id,
    p.text,
    p.prompt_set_id,
    p.topic_id,
    p.is_branded,
    p.platforms,
    p.models,
    p.regions,
    p.samples
FROM public.prompts AS p
JOIN public.prompt_sets AS s ON s.id = p.prompt_set_id
WHERE p.brand_id = $1
  AND p.is_active
  AND s.is_active
  AND (cardinality($2::uuid[]) = 0 OR p.id = ANY ($2))
ORDER BY p.text, p.created_at, p.id
