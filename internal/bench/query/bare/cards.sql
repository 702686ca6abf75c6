-- cards: how often each product is shown.
SELECT
    title,
    sum(sign)
FROM shopping_cards
WHERE organization_id = {organization_id:UUID}
  AND brand_id IN {brands:Array(UUID)}
  AND day BETWEEN {date_from:Date} AND {date_to:Date}
GROUP BY title
