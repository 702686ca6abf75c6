-- shopping_lists: in how many product lists of the filtered answers the brand, each live competitor and all other products are, and at which place.
-- A list is an answer with cards; a place is that of the first card of an entity in a list. The brand comes first, then competitors by name, then
-- others, of the nil id, with the products of entities that are not tracked now. merchants, on every row, are the domains that the brand's products are sold on.
-- shopping_cards has no prompts, by which the interval is clustered, so answers are read: months whose answers were deleted have no lists.
WITH
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
    prompts AS
    (
        SELECT
            prompt_id,
            sum(sign)                                                  AS lists,
            sumForEach(arrayMap(place -> sign * (place > 0), places))  AS shown,
            sumForEach(arrayMap(place -> sign * place, places))        AS places_sum,
            sumMap(merchants, arrayMap(merchant -> sign, merchants))   AS merchant_lists
        FROM
        (
            SELECT
                prompt_id,
                sign,
                arrayMap(id -> if(has(entities.1, id), id, toUUID('00000000-0000-0000-0000-000000000000')), cards.matched_id) AS owners,
                arrayMap(
                    entity -> toInt64(arrayMin(arrayFilter((place, owner) -> owner = entity.1, cards.position, owners))),
                    entities) AS places,
                arrayDistinct(arrayFilter((merchant, owner) -> merchant != '' AND owner = {brand_id:UUID}, cards.merchant_domain, owners)) AS merchants
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
        )
        GROUP BY prompt_id
        HAVING lists > 0
    ),
    measured AS
    (
        SELECT
            nth,
            entities[nth] AS entity,
            all_lists,
            prompt_count,
            shown[nth] AS lists,
            places_sum[nth] AS places,
            merchants,
            answerscope_ratio(100 * lists, all_lists) AS share,
            answerscope_margin(prompt_count, all_lists, share, yy[nth], yn[nth], nn) AS margin,
            answerscope_wilson_interval(false, prompt_count, all_lists, share, margin, 0) AS ends
        FROM
        (
            SELECT
                count()                                                           AS prompt_count,
                sum(prompts.lists)                                                AS all_lists,
                sum(prompts.lists * prompts.lists)                                AS nn,
                sumForEach(prompts.shown)                                         AS shown,
                sumForEach(prompts.places_sum)                                    AS places_sum,
                sumForEach(arrayMap(y -> 10000 * y * y, prompts.shown))           AS yy, -- a list with such a card has 100 points
                sumForEach(arrayMap(y -> 100 * y * prompts.lists, prompts.shown)) AS yn,
                sumMap(prompts.merchant_lists).1                                  AS merchants
            FROM prompts
        )
        ARRAY JOIN arrayEnumerate(entities) AS nth
    )
SELECT
    entity.1                                                                      AS entity_id,
    multiIf(nth = 1, 'own', nth = length(entities), 'other', 'competitor')        AS role,
    entity.2                                                                      AS name,
    all_lists,
    prompt_count,
    lists,
    answerscope_round(share, 1)                                                   AS share_pct,
    ends[1]                                                                       AS share_low,
    ends[2]                                                                       AS share_high,
    answerscope_round(answerscope_ratio(places, lists), 1)                        AS avg_position,
    length(merchants)                                                             AS merchant_count,
    toUInt64(arrayCount(
        merchant -> arrayExists(domain -> endsWith(concat('.', domain), concat('.', merchant)), {domains:Array(String)}),
        merchants))                                                               AS own_merchants
FROM measured
ORDER BY nth
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0
