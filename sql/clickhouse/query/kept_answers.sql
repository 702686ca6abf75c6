-- kept_answers: answers of a brand as they were recorded, with the reading version of each row; the first row has the texts.
SELECT
    day,
    id,
    revision,
    extract_version,
    answered_at,
    platform,
    model,
    served_model,
    provider,
    region,
    language,
    surface,
    sample,
    prompt_id,
    prompt_set_id,
    topic_id,
    prompt_text,
    is_branded,
    job_id,
    simulated,
    given_up,
    given_up_class,
    given_up_error,
    attempts,
    latency_ms,
    finish,
    text,
    search_queries,
    raw_citations.url,
    raw_citations.title,
    raw_citations.cited,
    raw_products,
    input_tokens,
    output_tokens,
    searches,
    cost_usd
FROM answers
WHERE organization_id = {organization:UUID}
  AND brand_id = {brand:UUID}
  AND day IN {days:Array(Date)}
  AND id IN {ids:Array(UUID)}
  AND sign = 1
ORDER BY day, id
