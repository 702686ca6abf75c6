-- set_provider_limits: sets the limits of the organization $1 for its account at the platform $2; null is not set.
INSERT INTO private.provider_limits (organization_id, platform, requests_per_minute, tokens_per_minute, in_flight)
VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (organization_id, platform) DO UPDATE SET
    requests_per_minute = excluded.requests_per_minute,
    tokens_per_minute = excluded.tokens_per_minute,
    in_flight = excluded.in_flight
