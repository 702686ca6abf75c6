-- exported_answers: every answer and given-up run of a brand as it is now, by day: the fields that an import takes, then those of the run, then its reading.
-- The record's values are on an id's first row, its reading on the last row of sign 1. The rows of an id are neighbours in the
-- order of the key, so the server has few of them in memory; a join would have it keep one side.
SELECT
    platform,
    prompt,
    answered_at,
    recorded.1 AS text,
    model,
    served_model,
    provider,
    surface,
    region,
    language,
    (
        SELECT mapFromArrays(groupArray(id), groupArray(name))
        FROM dimension_topics FINAL
        WHERE organization_id = {organization:UUID}
          AND brand_id = {brand:UUID}
    )[net.topic_id] AS topic,
    sample,
    arrayZip(recorded.2, recorded.3, recorded.4)::Array(Tuple(url String, title String, cited Bool)) AS citations,
    JSONExtract(recorded.5, 'Array(Tuple(title String, position Nullable(Int64), brand String, price_amount Nullable(String), price_currency Nullable(String), url String, image_url String, rating Nullable(Float64), review_count Nullable(Int64), merchant String))') AS products,
    given_up,
    given_up_error,
    toString(id) AS id,
    toString(prompt_id) AS prompt_id,
    toString(prompt_set_id) AS prompt_set_id,
    nullIf(toString(topic_id), '00000000-0000-0000-0000-000000000000') AS topic_id,
    nullIf(toString(job_id), '00000000-0000-0000-0000-000000000000') AS job_id,
    is_branded,
    simulated,
    attempts,
    latency_ms,
    finish,
    recorded.6 AS search_queries,
    recorded.7 AS input_tokens,
    recorded.8 AS output_tokens,
    recorded.9 AS searches,
    recorded.10 AS cost_usd,
    reading.1 AS revision,
    reading.2 AS extract_version,
    reading.3 AS branded,
    reading.4 AS brand_name,
    reading.5 AS mention_count,
    reading.6 AS position,
    reading.7 AS citation_count,
    reading.8 AS visibility_score,
    reading.9 AS sentiment,
    reading.10 AS sentiment_method,
    arrayZip(rivals.1, rivals.2, rivals.3, rivals.4, rivals.5, rivals.6, rivals.7)::Array(Tuple(id String, name String, mention_count UInt32,
        position UInt32, citation_count UInt32, visibility_score UInt16, sentiment String)) AS competitors,
    arrayZip(sources.1, sources.2, sources.3, sources.4, sources.5, sources.6)::Array(Tuple(url String, host String, domain String,
        listed_type String, owned Bool, competitor_id String)) AS sources,
    recorded.11 AS log_topic,
    recorded.12 AS log_partition,
    recorded.13 AS log_offset
FROM
(
    SELECT
        organization_id,
        brand_id,
        day,
        id,
        any(answers.answered_at) AS answered_at,
        any(answers.platform) AS platform,
        any(answers.prompt_text) AS prompt,
        any(answers.model) AS model,
        any(answers.served_model) AS served_model,
        any(answers.provider) AS provider,
        any(answers.surface) AS surface,
        any(answers.region) AS region,
        any(answers.language) AS language,
        any(answers.sample) AS sample,
        any(answers.prompt_id) AS prompt_id,
        any(answers.prompt_set_id) AS prompt_set_id,
        any(answers.topic_id) AS topic_id,
        any(answers.job_id) AS job_id,
        anyRespectNulls(answers.is_branded) AS is_branded,
        any(answers.simulated) AS simulated,
        any(answers.given_up_class) AS given_up,
        any(answers.given_up_error) AS given_up_error,
        any(answers.attempts) AS attempts,
        any(answers.latency_ms) AS latency_ms,
        any(answers.finish) AS finish,
        argMinIf((answers.text, raw_citations.url, raw_citations.title, raw_citations.cited, raw_products, answers.search_queries,
            answers.input_tokens, answers.output_tokens, answers.searches, answers.cost_usd, answers.log_topic, answers.log_partition,
            answers.log_offset), (answers.revision, answers.extract_version), sign = 1) AS recorded,
        argMaxIf((answers.revision, answers.extract_version, answers.branded, answers.brand_name, answers.mention_count, answers.position,
            answers.citation_count, answers.visibility_score, answers.sentiment, answers.sentiment_method),
            (answers.revision, answers.extract_version), sign = 1) AS reading,
        argMaxIf((competitors.id, competitors.name, competitors.mention_count, competitors.position, competitors.citation_count,
            competitors.visibility_score, competitors.sentiment), (answers.revision, answers.extract_version), sign = 1) AS rivals,
        argMaxIf((answers.citations.url, answers.citations.host, answers.citations.domain, answers.citations.listed_type,
            answers.citations.owned, answers.citations.competitor_id), (answers.revision, answers.extract_version), sign = 1) AS sources
    FROM answers
    WHERE organization_id = {organization:UUID}
      AND brand_id = {brand:UUID}
      AND day >= {first_day:Date}
      AND day <= {last_day:Date}
    GROUP BY organization_id, brand_id, day, id
) AS net
ORDER BY day, net.id
SETTINGS optimize_aggregation_in_order = 1
