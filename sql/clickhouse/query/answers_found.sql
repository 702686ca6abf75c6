-- answers_found: the answers that pass the filters, newest first, then by id as text, at most limit after a cursor.
-- With sort = 'prompt' those of a day are sorted by prompt id before that.
-- total is their number, on every row. If no row comes after the cursor, earlier rows fill the page, with comes_after = false.
WITH
    toDateTime64(if({before:String} = '', '2149-01-01 00:00:00.000', {before:String}), 3, 'UTC') AS cursor_time,
    recorded AS -- text and searches are on an id's first row
    (
        SELECT id
        FROM answers
        WHERE organization_id = {organization_id:UUID}
          AND brand_id = {brand_id:UUID}
          AND day BETWEEN {date_from:Date} AND {date_to:Date}
          AND (empty({names:Array(String)})
            OR arrayExists(name -> answerscope_holds(text, name), {names:Array(String)}))
          AND (empty({searches:Array(String)})
            OR hasAny(search_queries, {searches:Array(String)}))
    ),
    passing AS
    (
        SELECT
            day,
            id,
            answered_at,
            if({sort:String} = 'prompt', toString(prompt_id), '') AS prompt,
            sign
        FROM answers
        WHERE organization_id = {organization_id:UUID}
          AND brand_id = {brand_id:UUID}
          AND day BETWEEN {date_from:Date} AND {date_to:Date}
          AND NOT given_up
          AND NOT endsWith(platform, '-shopping')
          AND answerscope_matches_code({platforms:Array(String)}, platform)
          AND answerscope_matches_code({models:Array(String)}, model)
          AND answerscope_matches_code({regions:Array(String)}, region)
          AND answerscope_matches({topics:Array(UUID)}, answerscope_given(topic_id))
          AND answerscope_matches({branded:Array(Bool)}, branded)
          AND answerscope_matches({prompts:Array(UUID)}, prompt_id)
          AND answerscope_matches({samples:Array(Int64)}, sample)
          AND answerscope_matches({shown:Array(Bool)}, answered)
          AND answerscope_matches({sentiments:Array(String)}, sentiment)
          AND answerscope_matches({mentioned:Array(Bool)}, CAST(mention_count > 0 AS Bool))
          AND answerscope_matches({cited:Array(Bool)}, CAST(citation_count > 0 AS Bool))
          AND (empty({competitors:Array(UUID)})
            OR arrayExists((rival, mentions) -> mentions > 0 AND has({competitors:Array(UUID)}, rival), competitors.id, competitors.mention_count))
          AND (empty({domains:Array(String)})
            OR arrayExists((domain, is_cited) -> is_cited AND has({domains:Array(String)}, domain), citations.domain, citations.cited))
          AND (empty({urls:Array(String)})
            OR arrayExists((url, is_cited) -> is_cited AND has({urls:Array(String)}, url), citations.url, citations.cited))
          AND (empty({pages:Array(String)})
            OR arrayExists((url, is_cited) -> is_cited AND has({pages:Array(String)}, answerscope_cited_page(url)), citations.url, citations.cited))
          AND (empty({categories:Array(String)})
            OR arrayExists((is_cited, owned, rival, listed) -> is_cited AND has({categories:Array(String)}, answerscope_source_type(owned, rival, listed)), citations.cited, citations.owned, citations.competitor_id, citations.listed_type))
          AND (empty({names:Array(String)}) AND empty({searches:Array(String)})
            OR id IN recorded)
    ),
    (
        -- Single answers are read only on the days of the page: from the latest that has enough after the cursor.
        SELECT
            maxIf(day, day < toDate(cursor_time) AND running >= {limit:UInt32}),
            if(countIf(day <= toDate(cursor_time)) > 0, toDate(cursor_time), {date_to:Date}),
            toUInt64(sum(n)),
            any(cursor_time)
        FROM
        (
            SELECT
                day,
                sum(sign) AS n,
                sumIf(n, day < toDate(cursor_time)) OVER (ORDER BY day DESC) AS running
            FROM passing
            GROUP BY day
            HAVING n > 0
        )
    ) AS page
SELECT *
FROM
(
    SELECT
        day,
        id,
        answered_at,
        prompt,
        CAST((toDate(page.4), prompt, page.4, toString(id)) > (day, {after_prompt:String}, answered_at, {after_answer:String}) AS Bool) AS comes_after,
        page.3 AS total
    FROM passing
    WHERE day BETWEEN page.1 AND page.2
    GROUP BY day, id, answered_at, prompt
    HAVING sum(sign) > 0 -- both rows of a corrected reading, sign 1 and sign -1, pass the filters
)
ORDER BY comes_after DESC, day DESC, prompt, answered_at DESC, toString(id)
LIMIT {limit:UInt32}
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0
