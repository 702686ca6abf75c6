-- advice_names: how many answers to each prompt name the brand, and how many name each live competitor. Rows of domain '' are of all answers;
-- the others are of the answers that cite a page there that is neither the brand's nor a competitor's.
-- unnamed counts answers that do not name the brand, of a domain those that cite any page of it. critical_t is Student's t of the domain's
-- prompts, 0 under 5. Only answers say both what they cite and whom they name: months whose answers were deleted are in no figure.
WITH
    toUUID('00000000-0000-0000-0000-000000000000') AS nobody,
    (
        SELECT groupArray(id)
        FROM dimension_competitors FINAL
        WHERE organization_id = {organization:UUID}
          AND brand_id = {brand:UUID}
          AND NOT deleted
    ) AS live,
    landed AS
    (
        SELECT
            prompt_id,
            sign,
            mention_count > 0 AS named,
            arrayFilter((id, n) -> n > 0 AND has(live, id), competitors.id, competitors.mention_count) AS rivals,
            arrayDistinct(arrayFilter((domain, is_cited) -> is_cited, citations.domain, citations.cited)) AS cited,
            arrayFilter(
                (domain, is_cited, owned, competitor) -> is_cited AND NOT owned AND competitor = nobody,
                citations.domain, citations.cited, citations.owned, citations.competitor_id) AS of_others
        FROM answers
        WHERE organization_id = {organization:UUID}
          AND brand_id = {brand:UUID}
          AND day BETWEEN {first_day:Date} AND {last_day:Date}
          AND answered
          AND NOT endsWith(platform, '-shopping')
    ),
    counted AS
    (
        SELECT
            toString(site)                                                 AS domain,
            prompt_id,
            sum(sign * counts)                                             AS answers,
            sum(sign * (counts AND named))                                 AS brand_answers,
            sum(sign * (counts AND NOT named AND notEmpty(rivals)))        AS only_rivals,
            sum(sign * NOT named)                                          AS unnamed,
            sumMap(if(counts, rivals, []), arrayMap(id -> toInt64(sign), if(counts, rivals, []))) AS by_rival
        FROM
        (
            SELECT
                prompt_id,
                sign,
                named,
                rivals,
                site,
                site = '' OR has(of_others, site) AS counts
            FROM landed
            ARRAY JOIN arrayPushFront(cited, '') AS site
        )
        GROUP BY site, prompt_id
        HAVING answers > 0 OR unnamed > 0
    )
SELECT
    domain,
    prompt_id,
    answers,
    brand_answers,
    only_rivals,
    unnamed,
    by_rival.1 AS rivals,
    by_rival.2 AS rival_answers,
    countIf(answers > 0) OVER (PARTITION BY domain) AS prompt_count,
    if(prompt_count < 5, 0, answerscope_critical_t(greatest(prompt_count, 2) - 1)) AS critical_t
FROM counted
ORDER BY domain, prompt_id
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0
