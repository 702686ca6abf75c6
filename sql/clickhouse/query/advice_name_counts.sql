-- advice_name_counts: how many answers of a window have each of at most 255 names in their text, as many as the filter name of GET /api/v1/answers lists.
-- The text is on an id's first row. It is copied for the names that are anywhere in it, and not for the others.
SELECT
    name,
    toInt64(count()) AS answers
FROM
(
    SELECT
        id,
        groupUniqArrayArray(arrayFilter(
            name -> answerscope_holds(text, name),
            arrayFilter((name, place) -> place > 0, {names:Array(String)}, multiSearchAllPositions(text, {names:Array(String)})))) AS names
    FROM answers
    WHERE organization_id = {organization:UUID}
      AND brand_id = {brand:UUID}
      AND day BETWEEN {first_day:Date} AND {last_day:Date}
      AND answered
      AND NOT endsWith(platform, '-shopping')
    GROUP BY id
    HAVING sum(sign) > 0
)
ARRAY JOIN names AS name
GROUP BY name
