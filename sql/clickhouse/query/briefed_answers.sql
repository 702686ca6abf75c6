-- briefed_answers: answers of a brand for a content brief: the beginning of the text, the searches, and the pages that are cited by the current reading.
-- Text and searches are on an id's first row, the current reading on the last row of sign 1.
SELECT
    id,
    prompt_text,
    platform,
    language,
    recorded.1 AS text,
    recorded.2 AS search_queries,
    cited.1 AS urls,
    cited.2 AS titles,
    cited.3 AS types,
    cited.4 AS owned
FROM
(
    SELECT
        id,
        any(answers.prompt_text) AS prompt_text,
        any(answers.platform) AS platform,
        any(answers.language) AS language,
        argMinIf((substringUTF8(answers.text, 1, 16384), arraySlice(answers.search_queries, 1, 50)), (revision, answers.extract_version), sign = 1) AS recorded,
        argMaxIf(
            (
                arrayFilter((url, is_cited) -> is_cited, citations.url, citations.cited),
                arrayFilter((title, is_cited) -> is_cited, citations.title, citations.cited),
                arrayFilter((listed, is_cited) -> is_cited, citations.listed_type, citations.cited),
                arrayFilter((own, is_cited) -> is_cited, citations.owned, citations.cited)
            ),
            (revision, answers.extract_version), sign = 1) AS cited
    FROM answers
    WHERE organization_id = {organization:UUID}
      AND brand_id = {brand:UUID}
      AND day IN {days:Array(Date)}
      AND id IN {ids:Array(UUID)}
    GROUP BY id
) AS found
