-- shopping_lists: in how many product lists of the filtered answers the brand, each live competitor and all other products are, and at which place.
-- A list is an answer with cards; a place is that of the first card of an entity in a list. The brand comes first, then competitors by name, then
-- others, of the nil id, with the products of entities that are not tracked now. merchants, on every row, are the domains that the brand's products are sold on.
-- shopping_cards has no prompts, by which the interval is clustered, so answers are read: months whose answers were deleted have no lists.
WITH
    landed AS
    (
        SELECT
            prompt_id,
            sign,
            arraySort((id, place) -> place, cards.matched_id, cards.position) AS ids,
            arraySort(cards.position)                                         AS places,
            arrayFilter((merchant, id) -> merchant != '' AND id = brand_id, cards.merchant_domain, cards.matched_id) AS merchants
        FROM answers
        WHERE organization_id = {organization_id:UUID}
          AND brand_id = {brand_id:UUID}
          AND day BETWEEN {date_from:Date} AND {date_to:Date}
          AND notEmpty(cards.position)
          AND answerscope_matches_code({platforms:Array(String)}, platform)
          AND answerscope_matches_code({models:Array(String)}, model)
          AND answerscope_matches_code({regions:Array(String)}, region)
          AND answerscope_matches({topics:Array(UUID)}, answerscope_given(topic_id))
          AND answerscope_matches({branded:Array(Bool)}, branded)
    ),
    owned AS
    (
        SELECT
            landed.*,
            arrayMap(id -> if(id = {brand_id:UUID} OR has(tracked, id), id, toUUID('00000000-0000-0000-0000-000000000000')), ids) AS owners
        FROM landed
        CROSS JOIN
        (
            SELECT groupArray(id) AS tracked
            FROM dimension_competitors FINAL
            WHERE organization_id = {organization_id:UUID}
              AND brand_id = {brand_id:UUID}
              AND NOT deleted
        ) AS live
    ),
    prompts AS
    (
        SELECT
            prompt_id,
            owner,
            sumIf(sign, place = 0)                              AS listed, -- only the brand's row has them
            sumIf(sign, place > 0)                              AS shown,
            sum(sign * place)                                   AS places_sum,
            sumMapIf(merchants, arrayMap(merchant -> sign, merchants), place = 0) AS merchant_cards,
            sum(listed) OVER (PARTITION BY prompt_id)           AS listed_of_prompt
        FROM owned
        ARRAY JOIN -- each list is once more in the brand's row, at place 0
            arrayPushFront(owners, {brand_id:UUID}) AS owner,
            arrayPushFront(places, 0) AS place,
            arrayPushFront(arrayEnumerateUniq(owners), 1) AS nth
        WHERE nth = 1
        GROUP BY prompt_id, owner
    ),
    sums AS
    (
        SELECT
            owner,
            countIf(listed > 0)           AS prompt_count,
            sum(listed)                   AS all_lists,
            sum(listed * listed)          AS nn,
            sum(shown)                    AS lists,
            sum(places_sum)               AS places,
            sum(shown * shown)            AS yy,
            sum(shown * listed_of_prompt) AS yn,
            sumMap(merchant_cards).1      AS merchants
        FROM prompts
        GROUP BY owner
    ),
    -- formulas
    (
        SELECT groupArray((id, name))
        FROM dimension_competitors FINAL
        WHERE organization_id = {organization_id:UUID}
          AND brand_id = {brand_id:UUID}
          AND NOT deleted
    ) AS live,
    arrayConcat(
        [({brand_id:UUID}, '')],
        arraySort(rival -> rival.2, live),
        [(toUUID('00000000-0000-0000-0000-000000000000'), '')]) AS entities,
    measured AS
    (
        -- An entity without a row has zeros. A list with its card has 100 points.
        SELECT *,
            nth,
            arrayFirst(row -> row.1 = entities[nth].1, found) AS own,
            answerscope_ratio(100 * own.2, all_lists) AS share,
            answerscope_margin(prompt_count, all_lists, share, 10000 * own.4, 100 * own.5, nn) AS margin,
            answerscope_wilson_interval(false, prompt_count, all_lists, share, margin, 0) AS ends
        FROM
        (
            SELECT
                max(sums.prompt_count)                          AS prompt_count,
                max(sums.all_lists)                             AS all_lists,
                max(sums.nn)                                    AS nn,
                groupArray((owner, lists, places, yy, yn))      AS found,
                anyIf(sums.merchants, owner = {brand_id:UUID})  AS merchants
            FROM sums
        )
        ARRAY JOIN arrayEnumerate(entities) AS nth
    )
SELECT
    entities[nth].1                                                               AS entity_id,
    multiIf(nth = 1, 'own', nth = length(entities), 'other', 'competitor')        AS role,
    entities[nth].2                                                               AS name,
    all_lists,
    prompt_count,
    own.2                                                                         AS lists,
    answerscope_round(share, 1)                                                   AS share_pct,
    ends[1]                                                                       AS share_low,
    ends[2]                                                                       AS share_high,
    answerscope_round(answerscope_ratio(own.3, lists), 1)                         AS avg_position,
    length(merchants)                                                             AS merchant_count,
    toUInt64(arrayCount(
        merchant -> arrayExists(domain -> endsWith(concat('.', domain), concat('.', merchant)), {domains:Array(String)}),
        merchants))                                                               AS own_merchants
FROM measured
ORDER BY nth
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0
