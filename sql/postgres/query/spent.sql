-- spent: what an organization has spent on each platform in the day and in the month of an instant, in UTC.
SELECT
    platform,
    coalesce(sum(runs) FILTER (WHERE day = (at AT TIME ZONE 'UTC')::date), 0)::bigint AS runs_day,
    coalesce(sum(cost) FILTER (WHERE day = (at AT TIME ZONE 'UTC')::date), 0)::text AS cost_day,
    sum(runs)::bigint AS runs_month,
    sum(cost)::text AS cost_month
FROM private.spending
CROSS JOIN (SELECT $2::timestamptz AS at) AS clock
WHERE organization_id = $1
  AND day >= date_trunc('month', at AT TIME ZONE 'UTC')::date
  AND day <= (at AT TIME ZONE 'UTC')::date
GROUP BY platform
ORDER BY platform
