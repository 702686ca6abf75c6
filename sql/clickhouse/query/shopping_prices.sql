-- shopping_prices: the prices of the cards of the filtered answers, by entity, as of shopping_lists, and currency. A card without either is left out.
-- median is the lower of two middle ones. Of an entity the currency with the most cards comes first, then by name.
WITH
    (
        SELECT groupArray(id)
        FROM dimension_competitors FINAL
        WHERE organization_id = {organization_id:UUID}
          AND brand_id = {brand_id:UUID}
          AND NOT deleted
    ) AS live
SELECT
    entity_id,
    currency,
    sum(n)                                              AS cards,
    min(price)                                          AS lowest,
    quantileExactWeighted(0.5)(price, toUInt64(n))      AS median,
    max(price)                                          AS highest
FROM
(
    SELECT
        if(has(live, matched_id) OR matched_id = {brand_id:UUID}, matched_id, toUUID('00000000-0000-0000-0000-000000000000')) AS entity_id,
        toString(price_currency)    AS currency,
        assumeNotNull(price_amount) AS price,
        sum(sign)                   AS n
    FROM shopping_cards
    WHERE organization_id = {organization_id:UUID}
      AND brand_id = {brand_id:UUID}
      AND day BETWEEN {date_from:Date} AND {date_to:Date}
      AND answerscope_matches_code({platforms:Array(String)}, platform)
      AND answerscope_matches_code({models:Array(String)}, model)
      AND answerscope_matches_code({regions:Array(String)}, region)
      AND answerscope_matches({topics:Array(UUID)}, answerscope_given(topic_id))
      AND answerscope_matches({branded:Array(Bool)}, branded)
      AND price_amount IS NOT NULL
      AND price_currency != ''
    GROUP BY entity_id, currency, price
    HAVING n > 0
)
GROUP BY entity_id, currency
ORDER BY entity_id, cards DESC, currency
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0
