-- provider_limits: the limits that the organizations $1 set for accounts at AI platforms.
SELECT
    organization_id,
    platform,
    requests_per_minute,
    tokens_per_minute,
    in_flight
FROM private.provider_limits
WHERE organization_id = ANY ($1::uuid[])
