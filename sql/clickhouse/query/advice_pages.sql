-- advice_pages: for each of some domains, at most five pages that are cited in answers that name a live competitor and not the brand.
-- By domain, then by such answers descending, then by URL. source_type is the domain's: the first among its citations. Pages of the brand and
-- of competitors are left out.
WITH
    toUUID('00000000-0000-0000-0000-000000000000') AS nobody,
    ['forum', 'social', 'review', 'institutional', 'editorial'] AS types,
    (
        SELECT groupArray(id)
        FROM dimension_competitors FINAL
        WHERE organization_id = {organization:UUID}
          AND brand_id = {brand:UUID}
          AND NOT deleted
    ) AS live
SELECT
    toString(c.domain) AS domain,
    c.url AS url,
    max(c.title) AS title,
    sum(sign * (mention_count = 0 AND arrayExists((id, n) -> n > 0 AND has(live, id), competitors.id, competitors.mention_count))) AS only_rivals,
    types[min(min(indexOf(types, c.listed_type))) OVER (PARTITION BY domain)] AS source_type
FROM answers
ARRAY JOIN citations AS c
WHERE organization_id = {organization:UUID}
  AND brand_id = {brand:UUID}
  AND day BETWEEN {first_day:Date} AND {last_day:Date}
  AND answered
  AND NOT endsWith(platform, '-shopping')
  AND has({domains:Array(String)}, c.domain)
  AND c.cited
  AND NOT c.owned
  AND c.competitor_id = nobody
GROUP BY domain, url
QUALIFY only_rivals > 0
ORDER BY domain, only_rivals DESC, url
LIMIT 5 BY domain
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0
