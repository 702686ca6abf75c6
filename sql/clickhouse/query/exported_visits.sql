-- exported_visits: every visit to a brand's site as it was recorded.
SELECT
    toString(id) AS id,
    at,
    event,
    platform,
    platform_by,
    host,
    path,
    referrer_host,
    country,
    country_by,
    language,
    screen,
    time_zone,
    session,
    new_session,
    toString(visitor) AS visitor,
    goal_name,
    goal_value,
    goal_currency,
    simulated,
    log_topic,
    log_partition,
    log_offset
FROM visits
WHERE organization_id = {organization:UUID}
  AND brand_id = {brand:UUID}
  AND day >= {first_day:Date}
  AND day <= {last_day:Date}
