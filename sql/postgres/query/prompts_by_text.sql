-- prompts_by_text: the oldest prompt of a brand for each of the texts. LATERAL makes one index lookup per text, even
-- while an import makes the planner's statistics wrong.
SELECT
    p.id,
    p.text,
    p.prompt_set_id,
    p.topic_id,
    p.is_branded
FROM unnest($2::text[]) AS input (text)
CROSS JOIN LATERAL (
    SELECT *
    FROM public.prompts AS same
    WHERE same.brand_id = $1
      AND hashtextextended(same.text, 0) = hashtextextended(input.text, 0)
      AND same.text = input.text
    ORDER BY
        same.created_at,
        same.id
    LIMIT 1
) AS p
