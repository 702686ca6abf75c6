-- stale_brands: the brands with answers from a day on, the oldest version of their current readings, and a checksum of all readings.
-- A correction has the replaced reading with sign -1, so signs sum to the number of answers with that reading.
WITH min((standing.revision, standing.extract_version)) AS oldest
SELECT
    organization_id,
    brand_id,
    oldest.1 AS revision,
    oldest.2 AS extract_version,
    groupBitXor(sipHash64(day, standing.revision, standing.extract_version, answers)) AS checksum
FROM (
    SELECT
        organization_id,
        brand_id,
        day,
        revision,
        extract_version,
        sum(sign) AS answers
    FROM answers
    WHERE day >= {since:Date}
    GROUP BY organization_id, brand_id, day, revision, extract_version
    HAVING sum(sign) > 0
) AS standing
GROUP BY organization_id, brand_id
ORDER BY organization_id, brand_id
