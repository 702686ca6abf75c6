-- prompt_matrix: how often the answers to each prompt name the brand, over all and by group, for the prompts with answers in the window.
-- Sorted by sort_key as bytes: prompts that name the brand last, by topic (none last), then by rate. At most limit after sort_key after_row; from the first on if that is ''.
WITH
    cells AS
    (
        SELECT
            prompt_id,
            answerscope_group({group_by:String}, platform, model, region, topic_id) AS group_key,
            sum(entity_prompt_daily.answers)            AS answers,
            sumIf(entity_prompt_daily.answers, branded) AS branded_answers,
            sum(entity_prompt_daily.mention_answers)    AS mention_answers
        FROM entity_prompt_daily
        WHERE organization_id = {organization_id:UUID}
          AND brand_id = {brand_id:UUID}
          AND day BETWEEN {date_from:Date} AND {date_to:Date}
          AND answerscope_matches_code({platforms:Array(String)}, platform)
          AND answerscope_matches_code({models:Array(String)}, model)
          AND answerscope_matches_code({regions:Array(String)}, region)
          AND answerscope_matches({topics:Array(UUID)}, answerscope_given(topic_id))
          AND answerscope_matches({branded:Array(Bool)}, branded)
          AND entity_id = {brand_id:UUID}
        GROUP BY prompt_id, group_key
        HAVING answers > 0
    ),
    prompts AS
    (
        SELECT
            prompt_id,
            sum(cells.answers)                                                         AS answers,
            CAST(sum(branded_answers) > 0 AS Bool)                                     AS branded,
            sum(cells.mention_answers)                                                 AS mention_answers,
            arraySort(groupArray((group_key, cells.answers, cells.mention_answers)))   AS row
        FROM cells
        GROUP BY prompt_id
    ),
    placed AS
    (
        SELECT
            prompts.*,
            prompt.text                                              AS prompt_text,
            if(topic.deleted OR topic.name = '', NULL, topic.name)   AS topic_name,
            topic.id                                                 AS joined_id,
            answerscope_round(answerscope_ratio(100 * mention_answers, answers), 1) AS rate
        FROM prompts
        LEFT JOIN
        (
            SELECT id, text, topic_id
            FROM dimension_prompts FINAL
            WHERE organization_id = {organization_id:UUID}
              AND brand_id = {brand_id:UUID}
        ) AS prompt ON prompt.id = prompts.prompt_id
        LEFT JOIN
        (
            SELECT id, name, deleted
            FROM dimension_topics FINAL
            WHERE organization_id = {organization_id:UUID}
              AND brand_id = {brand_id:UUID}
        ) AS topic ON topic.id = prompt.topic_id
    ),
    sums AS
    (
        SELECT
            prompt_id,
            prompt_text,
            topic_name,
            if(isNull(topic_name), toUUID('00000000-0000-0000-0000-000000000000'), joined_id) AS topic_id,
            branded,
            answers,
            mention_answers,
            rate,
            row.1 AS groups,
            row.2 AS group_answers,
            row.3 AS group_mention_answers,
            concat(
                toString(toUInt8(branded)),
                if(isNull(topic_name), '1', concat('0', topic_name, '\x01')), -- ends before a longer name
                leftPad(toString(toUInt16(round(10 * assumeNotNull(rate)))), 4, '0'),
                toString(prompt_id)) AS sort_key
        FROM placed
        WHERE sort_key > {after_row:String}
        ORDER BY sort_key
        LIMIT {limit:UInt32}
    ),
    -- formulas
    arrayMap((n, m) -> if(n < 5, [NULL, NULL], [answerscope_round(answerscope_wilson(m, n, -1.96), 1), answerscope_round(answerscope_wilson(m, n, 1.96), 1)]),
        arrayPushFront(group_answers, answers), arrayPushFront(group_mention_answers, mention_answers)) AS intervals
SELECT
    prompt_id,
    prompt_text,
    topic_name,
    topic_id,
    branded,
    answers,
    mention_answers,
    rate,
    intervals[1][1] AS low,
    intervals[1][2] AS high,
    groups,
    group_answers,
    group_mention_answers,
    arrayMap((n, m) -> answerscope_round(answerscope_ratio(100 * m, n), 1), group_answers, group_mention_answers) AS group_rates,
    arrayMap(ends -> ends[1], arrayPopFront(intervals)) AS group_lows,
    arrayMap(ends -> ends[2], arrayPopFront(intervals)) AS group_highs,
    sort_key
FROM sums
ORDER BY sort_key
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0
