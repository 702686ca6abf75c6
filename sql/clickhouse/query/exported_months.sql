-- exported_months: the months in which a brand has answers, visits or crawls, in their order.
SELECT
    month,
    max(kind = 'answers') AS answers,
    max(kind = 'visits')  AS visits,
    max(kind = 'crawls')  AS crawls
FROM
(
    SELECT DISTINCT
        toStartOfMonth(day) AS month,
        'answers' AS kind
    FROM answers
    WHERE organization_id = {organization:UUID}
      AND brand_id = {brand:UUID}
      AND day >= {first_day:Date}
      AND day <= {last_day:Date}
    UNION ALL
    SELECT DISTINCT
        toStartOfMonth(day) AS month,
        'visits' AS kind
    FROM visits
    WHERE organization_id = {organization:UUID}
      AND brand_id = {brand:UUID}
      AND day >= {first_day:Date}
      AND day <= {last_day:Date}
    UNION ALL
    SELECT DISTINCT
        toStartOfMonth(day) AS month,
        'crawls' AS kind
    FROM crawls
    WHERE organization_id = {organization:UUID}
      AND brand_id = {brand:UUID}
      AND day >= {first_day:Date}
      AND day <= {last_day:Date}
)
GROUP BY month
ORDER BY month
