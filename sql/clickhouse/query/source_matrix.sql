-- source_matrix: the domains that most answers cite, and how many of the answers that cite a domain name the brand and each live competitor.
-- A row has a domain and an entity. Domains are sorted by citing answers descending, then by name, at most limit; the brand comes first, then
-- competitors by the answers that name them. gap is the brand's rate less the competitor's; its interval is paired by prompt.
-- Only answers say both what they cite and whom they name: months whose answers were deleted are in no figure.
WITH
    ['owned', 'competitor', 'forum', 'social', 'review', 'institutional', 'editorial'] AS types,
    typed AS
    (
        SELECT
            domain,
            indexOf(types, answerscope_source_type(owned, competitor, listed)) AS type,
            sumIf(sign, nth = 1) AS citing
        FROM answers
        ARRAY JOIN -- each answer is in the row without a domain
            arrayPushFront(citations.domain, '') AS domain,
            arrayPushFront(citations.cited, true) AS is_cited,
            arrayPushFront(citations.owned, false) AS owned,
            arrayPushFront(citations.competitor_id, brand_id) AS competitor,
            arrayPushFront(citations.listed_type, '') AS listed,
            arrayPushFront(arrayEnumerateUniq(citations.cited, citations.domain), 1) AS nth
        PREWHERE organization_id = {organization_id:UUID} -- WHERE is for the rows of ARRAY JOIN
          AND brand_id = {brand_id:UUID}
          AND day BETWEEN {date_from:Date} AND {date_to:Date}
        WHERE answered
          AND NOT endsWith(platform, '-shopping')
          AND answerscope_matches_code({platforms:Array(String)}, platform)
          AND answerscope_matches_code({models:Array(String)}, model)
          AND answerscope_matches_code({regions:Array(String)}, region)
          AND answerscope_matches({topics:Array(UUID)}, answerscope_given(topic_id))
          AND answerscope_matches({branded:Array(Bool)}, branded)
          AND is_cited
        GROUP BY domain, owned, competitor, listed
        HAVING sum(sign) > 0
    ),
    domains AS
    (
        SELECT
            domain,
            min(type)                AS nth_type,
            sum(typed.citing)        AS citing,
            max(citing) OVER ()      AS answers
        FROM typed
        GROUP BY domain
        QUALIFY domain != ''
        ORDER BY citing DESC, domain
        LIMIT {limit:UInt32}
    ),
    landed AS
    (
        SELECT
            prompt_id,
            sign,
            domain,
            arrayPushFront(competitors.id, brand_id) AS ids,
            arrayPushFront(competitors.mention_count, mention_count) AS counts
        FROM answers
        ARRAY JOIN
            citations.domain AS domain,
            citations.cited AS is_cited,
            arrayEnumerateUniq(citations.cited, citations.domain) AS nth
        PREWHERE organization_id = {organization_id:UUID} -- WHERE is for the rows of ARRAY JOIN
          AND brand_id = {brand_id:UUID}
          AND day BETWEEN {date_from:Date} AND {date_to:Date}
        WHERE answered
          AND NOT endsWith(platform, '-shopping')
          AND answerscope_matches_code({platforms:Array(String)}, platform)
          AND answerscope_matches_code({models:Array(String)}, model)
          AND answerscope_matches_code({regions:Array(String)}, region)
          AND answerscope_matches({topics:Array(UUID)}, answerscope_given(topic_id))
          AND answerscope_matches({branded:Array(Bool)}, branded)
          AND is_cited
          AND nth = 1
    ),
    prompts AS
    (
        SELECT
            domain,
            nth_type,
            answers,
            prompt_id,
            entity_id,
            sumIf(sign, entity_id = {brand_id:UUID}) AS citing, -- only the brand's row has them
            sumIf(sign, n > 0) AS named,
            sum(citing) OVER (PARTITION BY domain, prompt_id) AS citing_of_prompt,
            sumIf(named, entity_id = {brand_id:UUID}) OVER (PARTITION BY domain, prompt_id) AS brand_named
        FROM landed
        INNER JOIN domains USING (domain)
        ARRAY JOIN ids AS entity_id, counts AS n
        GROUP BY domain, nth_type, answers, prompt_id, entity_id
    ),
    sums AS
    (
        SELECT
            domain,
            nth_type,
            answers,
            entity_id,
            countIf(citing > 0)           AS prompt_count,
            sum(citing)                   AS citing_answers,
            sum(citing * citing)          AS nn,
            sum(named)                    AS mention_answers,
            sum(named * named)            AS mm,
            sum(named * citing_of_prompt) AS mn,
            sum(named * brand_named)      AS mb
        FROM prompts
        GROUP BY domain, nth_type, answers, entity_id
    ),
    -- formulas
    (
        SELECT groupArray((id, name))
        FROM dimension_competitors FINAL
        WHERE organization_id = {organization_id:UUID}
          AND brand_id = {brand_id:UUID}
          AND NOT deleted
    ) AS live,
    measured AS
    (
        -- An entity without a row has zeros. An answer that names it has 100 points.
        SELECT *,
            entity,
            arrayFirst(row -> row.1 = {brand_id:UUID}, found) AS brand,
            arrayFirst(row -> row.1 = entity.1, found) AS own,
            [
                answerscope_ratio(100 * own.2, citing_answers),
                answerscope_ratio(100 * (brand.2 - own.2), citing_answers)
            ] AS means,
            arrayMap(
                (mean, yy, yn, lowest) -> answerscope_wilson_interval(
                    false, prompt_count, citing_answers, mean, answerscope_margin(prompt_count, citing_answers, mean, yy, yn, nn), lowest),
                means, [10000 * own.3, 10000 * (brand.3 - 2 * own.5 + own.3)], [100 * own.4, 100 * (brand.4 - own.4)], [0, -100]) AS intervals
        FROM
        (
            SELECT
                domain,
                types[nth_type]          AS source_type,
                answers,
                max(sums.citing_answers) AS citing_answers,
                max(sums.prompt_count)   AS prompt_count,
                max(sums.nn)             AS nn,
                groupArray((entity_id, mention_answers, mm, mn, mb)) AS found
            FROM sums
            GROUP BY domain, nth_type, answers
        )
        ARRAY JOIN arrayPushFront(live, ({brand_id:UUID}, '')) AS entity
    )
SELECT
    domain,
    source_type,
    answers,
    citing_answers,
    answerscope_round(answerscope_ratio(100 * citing_answers, answers), 1)             AS usage_pct,
    prompt_count,
    entity.1                                                                           AS entity_id,
    CAST(entity_id = {brand_id:UUID} AS Bool)                                          AS is_brand,
    entity.2                                                                           AS name,
    own.2                                                                              AS mention_answers,
    answerscope_round(means[1], 1)                                                     AS mention_rate_pct,
    intervals[1][1]                                                                    AS mention_rate_low,
    intervals[1][2]                                                                    AS mention_rate_high,
    answerscope_round(means[2], 1)                                                     AS rate_gap,
    intervals[2][1]                                                                    AS rate_gap_low,
    intervals[2][2]                                                                    AS rate_gap_high,
    answerscope_gap_verdict(rate_gap_low, rate_gap_high)                               AS rate_gap_verdict
FROM measured
ORDER BY citing_answers DESC, domain, is_brand DESC, sum(mention_answers) OVER (PARTITION BY entity_id) DESC, name
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0
