-- fanout_words: the words by which searches differ from the prompt that was asked: added are not in it, the others are in it alone. At most
-- limit of each kind, by searches descending, then by word. pct is of the searches with other words than the prompt's, or in another order.
-- An id's first row has its queries; which answers pass is said by the sum of its rows. Only answers have queries: months whose answers were
-- deleted are in no figure.
WITH
    landed AS
    (
        WITH
            answerscope_matches({topics:Array(UUID)}, answerscope_given(topic_id))
            AND answerscope_matches({branded:Array(Bool)}, branded) AS passes
        SELECT
            any(prompt_text)                                AS asked,
            anyIf(search_queries, notEmpty(search_queries)) AS issued
        FROM answers
        WHERE organization_id = {organization_id:UUID}
          AND brand_id = {brand_id:UUID}
          AND day BETWEEN {date_from:Date} AND {date_to:Date}
          AND answered
          AND NOT endsWith(platform, '-shopping')
          AND answerscope_matches_code({platforms:Array(String)}, platform)
          AND answerscope_matches_code({models:Array(String)}, model)
          AND answerscope_matches_code({regions:Array(String)}, region)
        GROUP BY id
        HAVING sum(sign * passes) > 0
    ),
    prompts AS
    (
        -- One call splits a prompt and its searches: compiling its expression takes milliseconds.
        SELECT
            arrayMap(text -> answerscope_words(text), arrayPushFront(groupArray(query), asked)) AS words,
            groupArray(times) AS times
        FROM
        (
            SELECT
                asked,
                query,
                toInt64(count()) AS times
            FROM landed
            ARRAY JOIN issued AS query
            GROUP BY asked, query
        )
        GROUP BY asked
    ),
    pairs AS
    (
        SELECT
            words[1] AS asked_words,
            query_words,
            number   AS times
        FROM prompts
        ARRAY JOIN
            arrayPopFront(words) AS query_words,
            times                AS number
    ),
    changes AS
    (
        -- The empty word stands for all searches with a change.
        SELECT
            change.1                                AS added,
            change.2                                AS word,
            sum(times)                              AS searches,
            maxIf(sum(times), change.2 = '') OVER () AS changed_searches
        FROM pairs
        ARRAY JOIN arrayConcat(
            [(true, '')],
            arrayMap(w -> (true, w), arrayFilter(w -> NOT has(asked_words, w), arrayDistinct(query_words))),
            arrayMap(w -> (false, w), arrayFilter(w -> NOT has(query_words, w), arrayDistinct(asked_words)))) AS change
        WHERE query_words != asked_words
        GROUP BY change
    )
SELECT
    added,
    word,
    searches,
    answerscope_round(answerscope_ratio(100 * searches, changed_searches), 1) AS pct
FROM changes
WHERE word != ''
ORDER BY added DESC, searches DESC, word
LIMIT {limit:UInt32} BY added
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0
