-- advice_cards: the brands of products that nobody tracks, by name, with the number of product lists of a window that show them.
SELECT
    product_brand,
    count() AS lists
FROM
(
    SELECT product_brand, answer_id
    FROM shopping_cards
    WHERE organization_id = {organization:UUID}
      AND brand_id = {brand:UUID}
      AND day >= {first_day:Date}
      AND day <= {last_day:Date}
      AND role = 'other'
      AND product_brand != ''
    GROUP BY product_brand, answer_id
    HAVING sum(sign) > 0
)
GROUP BY product_brand
ORDER BY lists DESC, product_brand
LIMIT 10000
