-- stale_days: the number of answers of a brand whose current reading is older than a version, by day.
SELECT
    day,
    toUInt64(sum(sign)) AS answers
FROM answers
WHERE organization_id = {organization:UUID}
  AND brand_id = {brand:UUID}
  AND day BETWEEN {first_day:Date} AND {last_day:Date}
  AND (revision, extract_version) < ({reading_revision:Int64}, {reading_version:UInt16})
GROUP BY day
HAVING sum(sign) > 0
ORDER BY day
