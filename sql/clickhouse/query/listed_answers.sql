-- listed_answers: answers of a brand for a list: the question, the beginning of the text for an excerpt, and the current reading.
-- The text is on an id's first row, the current reading on the last row of sign 1.
SELECT
    * EXCEPT reading,
    reading.1 AS mention_count,
    reading.2 AS position,
    reading.3 AS sentiment,
    reading.4 AS citations,
    reading.5 AS extract_version,
    reading.6 AS own_citations
FROM
(
    SELECT
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
        argMinIf(substringUTF8(answers.text, 1, 65536), (revision, answers.extract_version), sign = 1) AS text,
        argMaxIf((answers.mention_count, answers.position, answers.sentiment, arrayCount(citations.cited), answers.extract_version,
            answers.citation_count),
            (revision, answers.extract_version), sign = 1) AS reading
    FROM answers
    WHERE organization_id = {organization:UUID}
      AND brand_id = {brand:UUID}
      AND day IN {days:Array(Date)}
      AND id IN {ids:Array(UUID)}
    GROUP BY id
) AS found
