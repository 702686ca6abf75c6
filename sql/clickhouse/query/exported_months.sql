-- exported_months: the months in which a brand has answers or visits, in their order.
SELECT
    month,
    max(of_answers) AS answers,
    max(NOT of_answers) AS visits
FROM
(
    SELECT DISTINCT
        toStartOfMonth(day) AS month,
        true AS of_answers
    FROM answers
    WHERE organization_id = {organization:UUID}
      AND brand_id = {brand:UUID}
      AND day >= {first_day:Date}
      AND day <= {last_day:Date}
    UNION ALL
    SELECT DISTINCT
        toStartOfMonth(day) AS month,
        false AS of_answers
    FROM visits
    WHERE organization_id = {organization:UUID}
      AND brand_id = {brand:UUID}
      AND day >= {first_day:Date}
      AND day <= {last_day:Date}
)
GROUP BY month
ORDER BY month
