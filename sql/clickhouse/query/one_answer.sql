-- one_answer: an answer of an organization that passes the filters, as it was recorded, and its current reading. Without a brand (the nil UUID) all are searched.
-- An id's first row has the record, the last row of sign 1 the current reading. A given-up run is no answer. Of a surface that had none the text is empty.
SELECT
    * EXCEPT (recorded, reading, sources, products),
    recorded.1 AS text,
    recorded.2 AS search_queries,
    recorded.3 AS input_tokens,
    recorded.4 AS output_tokens,
    recorded.5 AS searches,
    recorded.6 AS cost_usd,
    reading.1 AS mention_count,
    reading.2 AS position,
    reading.3 AS sentiment,
    reading.4 AS extract_version,
    reading.5 AS own_citations,
    arrayCount(sources.5) AS citations,
    sources.1 AS `citations.url`,
    sources.2 AS `citations.title`,
    sources.3 AS `citations.domain`,
    arrayMap((listed, owned, rival) -> answerscope_source_type(owned, rival, listed), sources.4, sources.6, sources.7) AS `citations.source_type`,
    sources.5 AS `citations.cited`,
    products.1 AS `cards.position`,
    products.2 AS `cards.title`,
    products.3 AS `cards.brand`,
    products.4 AS `cards.price_amount`,
    products.5 AS `cards.price_currency`,
    products.6 AS `cards.image_url`,
    products.7 AS `cards.merchant`,
    products.8 AS `cards.merchant_url`,
    products.9 AS `cards.merchant_domain`,
    products.10 AS `cards.rating`,
    products.11 AS `cards.review_count`,
    products.12 AS `cards.matched_id`,
    products.13 AS `cards.role`
FROM
(
    SELECT
        brand_id,
        id,
        any(answers.answered_at) AS answered_at,
        any(answers.platform) AS platform,
        any(answers.model) AS model,
        any(answers.served_model) AS served_model,
        any(answers.provider) AS provider,
        any(answers.answered) AS answered,
        any(answers.region) AS region,
        any(answers.sample) AS sample,
        any(answers.prompt_id) AS prompt_id,
        any(answers.prompt_text) AS prompt_text,
        any(answers.job_id) AS job_id,
        argMinIf((answers.text, answers.search_queries, answers.input_tokens, answers.output_tokens, answers.searches, answers.cost_usd),
            (revision, answers.extract_version), sign = 1) AS recorded,
        argMaxIf((answers.mention_count, answers.position, answers.sentiment, answers.extract_version, answers.citation_count,
            answers.branded, answerscope_given(answers.topic_id)),
            (revision, answers.extract_version), sign = 1) AS reading,
        argMaxIf((answers.citations.url, answers.citations.title, answers.citations.domain, answers.citations.listed_type,
            answers.citations.cited, answers.citations.owned, answers.citations.competitor_id), (revision, answers.extract_version), sign = 1) AS sources,
        argMaxIf((answers.cards.position, answers.cards.title, answers.cards.brand, answers.cards.price_amount, answers.cards.price_currency,
            answers.cards.image_url, answers.cards.merchant, answers.cards.merchant_url, answers.cards.merchant_domain,
            answers.cards.rating, answers.cards.review_count, answers.cards.matched_id, answers.cards.role), (revision, answers.extract_version), sign = 1) AS products
    FROM answers
    WHERE organization_id = {organization_id:UUID}
      AND ({brand_id:UUID} = toUUID('00000000-0000-0000-0000-000000000000') OR brand_id = {brand_id:UUID})
      AND day IN {days:Array(Date)}
      AND day BETWEEN {date_from:Date} AND {date_to:Date}
      AND id IN {ids:Array(UUID)}
      AND NOT given_up
    GROUP BY brand_id, id
) AS found
WHERE answerscope_matches_code({platforms:Array(String)}, platform)
  AND answerscope_matches_code({models:Array(String)}, model)
  AND answerscope_matches_code({regions:Array(String)}, region)
  AND answerscope_matches({branded:Array(Bool)}, reading.6)
  AND answerscope_matches({topics:Array(UUID)}, reading.7)
