-- prompts: what the answers of a prompt add up to on each day.
SELECT
    prompt_id,
    day,
    sum(answers),
    sum(mention_answers)
FROM brand_prompt_daily
WHERE organization_id = {organization_id:UUID}
  AND brand_id IN {brands:Array(UUID)}
  AND day BETWEEN {date_from:Date} AND {date_to:Date}
GROUP BY prompt_id, day
