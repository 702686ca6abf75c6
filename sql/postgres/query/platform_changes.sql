-- platform_changes: the days from $1 to $2 on which platforms changed, by platform and day.
SELECT
    platform,
    day,
    e_value,
    judged_on
FROM private.platform_changes
WHERE day BETWEEN $1::date AND $2::date
ORDER BY
    platform COLLATE "C",
    day
