-- exported_crawls: every request of an AI crawler for a brand's site as it was recorded.
SELECT
    toString(id) AS id,
    at,
    crawler,
    operator,
    platform,
    purpose,
    host,
    path,
    status,
    bytes,
    verified,
    simulated,
    log_topic,
    log_partition,
    log_offset
FROM crawls
WHERE organization_id = {organization:UUID}
  AND brand_id = {brand:UUID}
  AND day >= {first_day:Date}
  AND day <= {last_day:Date}
