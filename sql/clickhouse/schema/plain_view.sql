-- <name>: <question> of every brand<by>, over the last 30 days (UTC) up to today, without filters.
SELECT
    question.organization_id AS organization_id,
    question.brand_id        AS brand_id,
    brand_name,
    question.* EXCEPT (organization_id, brand_id)
FROM
(
<text>
) AS question
LEFT JOIN
(
    SELECT organization_id AS owner, id AS named, name AS brand_name
    FROM dimension_brands FINAL
) AS brand ON brand.owner = question.organization_id AND brand.named = question.brand_id
SETTINGS join_use_nulls = 0, group_by_use_nulls = 0, aggregate_functions_null_for_empty = 0
