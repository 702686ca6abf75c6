-- citations: how many answers cite each page.
SELECT
    domain,
    url,
    sum(answers),
    sum(citations),
    sum(citing_answers),
    sum(domain_answers)
FROM citation_daily
WHERE organization_id = {organization_id:UUID}
  AND brand_id IN {brands:Array(UUID)}
  AND day BETWEEN {date_from:Date} AND {date_to:Date}
GROUP BY domain, url
