-- source_matrix: the domains that most answers cite, and how many of the answers that cite a domain name the brand and each live competitor.
-- A row has a domain and an entity. Domains are sorted by citing answers descending, then by name, at most limit; the brand comes first, then
-- competitors by the answers that name them. gap is the brand's rate less the competitor's; its interval is paired by prompt.
-- Only answers say both what they cite and whom they name: months whose answers were deleted are in no figure.
WITH
    ['owned', 'competitor', 'forum', 'social', 'review', 'institutional', 'editorial'] AS types,
    (
        SELECT groupArray((id, name))
        FROM dimension_competitors FINAL
        WHERE organization_id = {organization_id:UUID}
          AND brand_id = {brand_id:UUID}
          AND NOT deleted
    ) AS live,
    arrayPushFront(live, ({brand_id:UUID}, '')) AS entities,
    landed AS
    (
        SELECT
            prompt_id,
            sign,
            arrayFilter((id, n) -> n > 0, arrayPushFront(competitors.id, brand_id), arrayPushFront(competitors.mention_count, mention_count)) AS present,
            arrayFilter((domain, is_cited) -> is_cited, citations.domain, citations.cited) AS cited_domains,
            arrayFilter(
                (type, is_cited) -> is_cited,
                arrayMap(
                    (owned, competitor, listed) -> indexOf(types, answerscope_source_type(owned, competitor, listed)),
                    citations.owned, citations.competitor_id, citations.listed_type),
                citations.cited) AS cited_types
        FROM answers
        WHERE organization_id = {organization_id:UUID}
          AND brand_id = {brand_id:UUID}
          AND day BETWEEN {date_from:Date} AND {date_to:Date}
          AND answered
          AND NOT endsWith(platform, '-shopping')
          AND answerscope_matches_code({platforms:Array(String)}, platform)
          AND answerscope_matches_code({models:Array(String)}, model)
          AND answerscope_matches_code({regions:Array(String)}, region)
          AND answerscope_matches({topics:Array(UUID)}, answerscope_given(topic_id))
          AND answerscope_matches({branded:Array(Bool)}, branded)
    ),
    domains AS
    (
        SELECT
            typed.domain              AS domain,
            types[min(typed.type)]    AS source_type,
            sum(typed.citing)         AS citing,
            max(sum(typed.citing)) OVER () AS all_answers -- each is in the row without a domain
        FROM
        (
            SELECT
                domain,
                type,
                sum(sign * (nth = 1)) AS citing
            FROM landed
            ARRAY JOIN
                arrayPushFront(cited_domains, '')                    AS domain,
                arrayPushFront(cited_types, 0)                       AS type,
                arrayPushFront(arrayEnumerateUniq(cited_domains), 1) AS nth
            GROUP BY domain, type
            HAVING sum(sign) > 0
        ) AS typed
        GROUP BY domain
    ),
    (
        SELECT groupArray((domain, source_type, all_answers))
        FROM
        (
            SELECT *
            FROM domains
            WHERE domain != ''
            ORDER BY citing DESC, domain
            LIMIT {limit:UInt32}
        )
    ) AS cited,
    prompts AS
    (
        SELECT
            domain,
            prompt_id,
            sum(sign) AS citing,
            sumForEach(arrayMap(entity -> sign * has(present, entity), entities.1)) AS named
        FROM landed
        ARRAY JOIN arrayDistinct(cited_domains) AS domain
        WHERE has(cited.1, domain)
        GROUP BY domain, prompt_id
        HAVING citing > 0
    ),
    summed AS
    (
        SELECT
            domain,
            count()                                                       AS prompt_count,
            sum(citing)                                                   AS citing_answers,
            sum(citing * citing)                                          AS nn,
            sumForEach(prompts.named)                                     AS named,
            sumForEach(arrayMap(y -> 10000 * y * y, prompts.named))       AS yy, -- an answer that names it has 100 points
            sumForEach(arrayMap(y -> 100 * y * citing, prompts.named))    AS yn,
            sumForEach(arrayMap(y -> 10000 * y * prompts.named[1], prompts.named)) AS yb -- with the brand's
        FROM prompts
        GROUP BY domain
    ),
    measured AS
    (
        SELECT
            domain,
            cited[indexOf(cited.1, domain)] AS listed,
            citing_answers,
            prompt_count,
            entities[nth] AS entity,
            summed.named[nth] AS mention_answers,
            [
                answerscope_ratio(100 * mention_answers, citing_answers),
                answerscope_ratio(100 * (summed.named[1] - mention_answers), citing_answers)
            ] AS means,
            arrayMap(
                (mean, y, z, lowest) -> answerscope_wilson_interval(
                    false, prompt_count, citing_answers, mean, answerscope_margin(prompt_count, citing_answers, mean, y, z, nn), lowest),
                means, [yy[nth], yy[1] - 2 * yb[nth] + yy[nth]], [yn[nth], yn[1] - yn[nth]], [0, -100]) AS intervals
        FROM summed
        ARRAY JOIN arrayEnumerate(entities) AS nth
    )
SELECT
    domain,
    listed.2                                                                           AS source_type,
    listed.3                                                                           AS answers,
    citing_answers,
    answerscope_round(answerscope_ratio(100 * citing_answers, answers), 1)             AS usage_pct,
    prompt_count,
    entity.1                                                                           AS entity_id,
    CAST(entity_id = {brand_id:UUID} AS Bool)                                          AS is_brand,
    entity.2                                                                           AS name,
    mention_answers,
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
