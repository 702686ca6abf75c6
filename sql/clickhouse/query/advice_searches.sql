-- advice_searches: the answers for which platforms issued searches, with these, the newest first. An id's first row has them; the sum of its
-- rows says whether the answer names the brand.
SELECT
    any(answers.platform)                           AS asked_platform,
    day,
    any(prompt_id)                                  AS prompt,
    CAST(sum(sign * (mention_count > 0)) > 0 AS Bool) AS named,
    anyIf(search_queries, notEmpty(search_queries)) AS searches
FROM answers
WHERE organization_id = {organization:UUID}
  AND brand_id = {brand:UUID}
  AND day BETWEEN {first_day:Date} AND {last_day:Date}
  AND answered
  AND NOT endsWith(platform, '-shopping')
GROUP BY day, id
HAVING sum(sign) > 0 AND notEmpty(searches)
ORDER BY day DESC, id
