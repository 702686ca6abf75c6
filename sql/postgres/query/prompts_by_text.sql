-- prompts_by_text: the oldest prompt of a brand for each of the texts that has one.
-- One look into the index for each text, however wrong the planner's statistics are
-- in the middle of an import.
SELECT
    p.id,
    p.text,
    p.prompt_set_id,
    p.topic_id,
    p.is_branded
FROM unnest($2::text[]) AS given (text)
CROSS JOIN LATERAL (
    SELECT *
    FROM public.prompts AS same
    WHERE same.brand_id = $1
      AND hashtextextended(same.text, 0) = hashtextextended(given.text, 0)
      AND same.text = given.text
    ORDER BY
        same.created_at,
        same.id
    LIMIT 1
) AS p
