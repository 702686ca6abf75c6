-- stale_answers: the answers of a brand on some days, after a cursor, whose current reading is older than a version.
-- Each has the reading version of its first row. An answer that has lost its first row with a broken part has no text to read.
WITH minIf((answers.revision, answers.extract_version), sign = 1) AS first
SELECT
    day,
    id,
    first.1 AS revision,
    first.2 AS extract_version
FROM answers
WHERE organization_id = {organization:UUID}
  AND brand_id = {brand:UUID}
  AND day IN {days:Array(Date)}
  AND (day > {after_day:Date} OR day = {after_day:Date} AND id > {after_id:UUID})
GROUP BY day, id
HAVING maxIf((answers.revision, answers.extract_version), sign = 1) < ({reading_revision:Int64}, {reading_version:UInt16})
   AND sum(sign) > 0
ORDER BY day, id
LIMIT {most:UInt32}
