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
            sum(entity_prompt_daily.mention_answers)    AS mention_answers,
            if(answers < 5, NULL, answers)              AS interval_answers -- NULL: too few for an interval
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
            sum(cells.answers)                            AS answers,
            CAST(sum(cells.branded_answers) > 0 AS Bool)  AS branded,
            sum(cells.mention_answers)                    AS mention_answers,
            if(answers < 5, NULL, answers)                AS interval_answers,
            arraySort(groupArray((
                group_key,
                cells.answers,
                cells.mention_answers,
                answerscope_round(answerscope_ratio(100 * cells.mention_answers, cells.answers), 1),
                answerscope_round(answerscope_wilson(cells.mention_answers, cells.interval_answers, -1.96), 1),
                answerscope_round(answerscope_wilson(cells.mention_answers, cells.interval_answers, 1.96), 1)))) AS row
        FROM cells
        GROUP BY prompt_id
    )
SELECT
    prompts.prompt_id                                                                AS prompt_id,
    prompt.text                                                                      AS prompt_text,
    if(topic.deleted OR topic.name = '', NULL, topic.name)                           AS topic_name,
    if(isNull(topic_name), toUUID('00000000-0000-0000-0000-000000000000'), topic.id) AS topic_id,
    branded,
    answers,
    mention_answers,
    answerscope_round(answerscope_ratio(100 * mention_answers, answers), 1)               AS rate,
    answerscope_round(answerscope_wilson(mention_answers, interval_answers, -1.96), 1)    AS low,
    answerscope_round(answerscope_wilson(mention_answers, interval_answers, 1.96), 1)     AS high,
    row.1 AS groups,
    row.2 AS group_answers,
    row.3 AS group_mention_answers,
    row.4 AS group_rates,
    row.5 AS group_lows,
    row.6 AS group_highs,
    concat(
        toString(toUInt8(branded)),
        if(isNull(topic_name), '1', concat('0', topic_name, '\x01')), -- ends before a longer name
        leftPad(toString(toUInt16(round(10 * assumeNotNull(rate)))), 4, '0'),
        toString(prompt_id)) AS sort_key
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
WHERE sort_key > {after_row:String}
ORDER BY sort_key
LIMIT {limit:UInt32}
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0
