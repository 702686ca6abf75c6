-- crawl_buckets: requests of AI crawlers for a brand's site, one row per bucket and purpose that have any. Errors were answered with a
-- status of 400 or above.
SELECT
    answerscope_bucket({granularity:String}, day, {date_from:Date}) AS bucket,
    purpose,
    sum(crawl_daily.requests)                                       AS requests,
    sum(crawl_daily.verified)                                       AS verified,
    sum(crawl_daily.unverified)                                     AS unverified,
    requests - verified - unverified                                AS unchecked,
    sumIf(crawl_daily.requests, status >= 400)                      AS errors
FROM crawl_daily
WHERE organization_id = {organization_id:UUID}
  AND brand_id = {brand_id:UUID}
  AND day BETWEEN {date_from:Date} AND {date_to:Date}
  AND answerscope_matches_code({platforms:Array(String)}, platform)
GROUP BY bucket, purpose
HAVING requests > 0
ORDER BY bucket, purpose
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0
