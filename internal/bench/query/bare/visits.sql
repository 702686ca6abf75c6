-- visits: visits of each page.
SELECT
    host,
    path,
    event,
    sum(visits),
    sum(sessions)
FROM visit_daily
WHERE organization_id = {organization_id:UUID}
  AND brand_id IN {brands:Array(UUID)}
  AND day BETWEEN {date_from:Date} AND {date_to:Date}
GROUP BY host, path, event
