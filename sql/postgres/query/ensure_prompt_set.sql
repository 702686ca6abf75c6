-- ensure_prompt_set: the oldest prompt set of a brand with the name, added when missing.
WITH existing AS (
    SELECT id
    FROM public.prompt_sets
    WHERE brand_id = $1::uuid
      AND name = $2::text
    ORDER BY
        created_at,
        id
    LIMIT 1
), added AS (
    INSERT INTO public.prompt_sets (brand_id, name)
    SELECT $1::uuid, $2::text
    WHERE NOT EXISTS (SELECT FROM existing)
    RETURNING id
)
SELECT id
FROM existing
UNION ALL
SELECT id
FROM added
