-- set_provider_order: sets the capture providers that the organization $1 asks for the surface $2.
INSERT INTO private.provider_orders (organization_id, platform, providers)
VALUES ($1, $2, $3)
ON CONFLICT (organization_id, platform) DO UPDATE SET
    providers = excluded.providers
