-- answers: what the answers of a prompt add up to, without their texts.
SELECT
    prompt_id,
    sum(sign),
    sum(sign * mention_count),
    sum(sign * citation_count)
FROM answers
WHERE organization_id = {organization_id:UUID}
  AND brand_id IN {brands:Array(UUID)}
  AND day BETWEEN {date_from:Date} AND {date_to:Date}
GROUP BY prompt_id
