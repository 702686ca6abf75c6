-- last_answers: when each of some brands was last answered from date_from on, without shopping platforms. Where the raw answers of the last day
-- have expired it is the beginning of that day.
WITH last_days AS
    (
        SELECT
            brand_id,
            max(day) AS last_day
        FROM
        (
            SELECT
                brand_id,
                day
            FROM answer_daily
            WHERE organization_id = {organization_id:UUID}
              AND brand_id IN {brands:Array(UUID)}
              AND day >= {date_from:Date}
            GROUP BY brand_id, day
            HAVING sum(answer_daily.answers) > 0
        )
        GROUP BY brand_id
    )
SELECT
    brand_id,
    max(at) AS answered_at
FROM
(
    SELECT
        brand_id,
        toDateTime64(last_day, 3, 'UTC') AS at
    FROM last_days
    UNION ALL
    SELECT
        brand_id,
        answered_at AS at
    FROM answers
    WHERE organization_id = {organization_id:UUID}
      AND brand_id IN {brands:Array(UUID)}
      AND day >= {date_from:Date}
      AND (brand_id, day) IN (SELECT brand_id, last_day FROM last_days)
      AND answered
      AND NOT endsWith(platform, '-shopping')
)
GROUP BY brand_id
ORDER BY brand_id
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0
