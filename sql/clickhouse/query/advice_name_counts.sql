-- advice_holding: the answers of a window whose texts have each of some names, as many as the filter name of GET /api/v1/answers opens.
SELECT
    name,
    toInt64(count()) AS answers
FROM
(
    SELECT
        id,
        groupUniqArrayArray(arrayFilter(name -> answerscope_holds(text, name), {names:Array(String)})) AS held -- text is on an id's first row
    FROM answers
    WHERE organization_id = {organization:UUID}
      AND brand_id = {brand:UUID}
      AND day BETWEEN {first_day:Date} AND {last_day:Date}
      AND NOT given_up
      AND NOT endsWith(platform, '-shopping')
    GROUP BY id
    HAVING sum(sign) > 0
)
ARRAY JOIN held AS name
GROUP BY name
