-- ensure_prompt_set: the brand's oldest prompt set of that name, made when missing.
WITH there AS (
    SELECT id
    FROM public.prompt_sets
    WHERE brand_id = $1::uuid
      AND name = $2::text
    ORDER BY
        created_at,
        id
    LIMIT 1
), made AS (
    INSERT INTO public.prompt_sets (brand_id, name)
    SELECT $1::uuid, $2::text
    WHERE NOT EXISTS (SELECT FROM there)
    RETURNING id
)
SELECT id
FROM there
UNION ALL
SELECT id
FROM made
