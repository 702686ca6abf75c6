-- days: what the answers of a day add up to on each platform.
SELECT
    day,
    platform,
    sum(runs),
    sum(given_up),
    sum(answers),
    sum(mention_answers)
FROM answer_daily
WHERE organization_id = {organization_id:UUID}
  AND brand_id IN {brands:Array(UUID)}
  AND day BETWEEN {date_from:Date} AND {date_to:Date}
GROUP BY day, platform
