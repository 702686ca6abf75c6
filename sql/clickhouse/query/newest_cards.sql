-- newest_cards: the shopping cards of the filtered answers, newest first, at most limit after a cursor.
-- Cards of the same time are sorted by answer_id as text, position, and id as text.
WITH
    toDateTime64(if({before:String} = '', '2149-01-01 00:00:00.000', {before:String}), 3, 'UTC') AS cursor_time,
    -- The cards are chosen by short columns of fixed width; texts are read for one page only.
    page AS
    (
        SELECT
            day,
            answered_at,
            id
        FROM shopping_cards
        WHERE organization_id = {organization_id:UUID}
          AND brand_id = {brand_id:UUID}
          AND day BETWEEN {date_from:Date} AND least({date_to:Date}, toDate(cursor_time))
          AND answerscope_matches_code({platforms:Array(String)}, platform)
          AND answerscope_matches_code({models:Array(String)}, model)
          AND answerscope_matches_code({regions:Array(String)}, region)
          AND answerscope_matches({topics:Array(UUID)}, answerscope_given(topic_id))
          AND answerscope_matches({branded:Array(Bool)}, branded)
          AND answerscope_matches({roles:Array(String)}, role)
          AND (answered_at < cursor_time
            OR answered_at = cursor_time
              AND (toString(answer_id), position, toString(id)) > ({after_answer:String}, {after_position:UInt32}, {after_card:String}))
        GROUP BY day, answered_at, answer_id, position, id
        HAVING sum(sign) > 0
        ORDER BY answered_at DESC, toString(answer_id), position, toString(id)
        LIMIT {limit:UInt32}
    )
SELECT
    id,
    answered_at,
    answer_id,
    position,
    title,
    product_brand,
    price_amount,
    price_currency,
    image_url,
    merchant,
    merchant_url,
    merchant_domain,
    rating,
    review_count,
    matched_id,
    role,
    platform,
    region
FROM shopping_cards
WHERE organization_id = {organization_id:UUID}
  AND brand_id = {brand_id:UUID}
  AND (day, answered_at, id) IN (SELECT day, answered_at, id FROM page)
  AND answerscope_matches_code({platforms:Array(String)}, platform)
  AND answerscope_matches_code({models:Array(String)}, model)
  AND answerscope_matches_code({regions:Array(String)}, region)
  AND answerscope_matches({topics:Array(UUID)}, answerscope_given(topic_id))
  AND answerscope_matches({branded:Array(Bool)}, branded)
  AND answerscope_matches({roles:Array(String)}, role)
GROUP BY ALL
HAVING sum(sign) > 0
ORDER BY answered_at DESC, toString(answer_id), position, toString(id)
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0
