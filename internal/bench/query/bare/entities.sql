-- entities: what the answers of a prompt add up to for each entity.
SELECT
    prompt_id,
    entity_id,
    sum(answers),
    sum(mention_answers),
    sum(citation_answers),
    sum(inverse_position),
    sum(mentions),
    sum(citations),
    sum(visibility),
    sum(positive_answers),
    sum(neutral_answers),
    sum(negative_answers)
FROM entity_prompt_daily
WHERE organization_id = {organization_id:UUID}
  AND brand_id IN {brands:Array(UUID)}
  AND day BETWEEN {date_from:Date} AND {date_to:Date}
GROUP BY prompt_id, entity_id
