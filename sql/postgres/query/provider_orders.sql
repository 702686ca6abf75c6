-- provider_orders: the capture providers that the organization $1 asks for consumer surfaces.
SELECT
    platform,
    providers
FROM private.provider_orders
WHERE organization_id = $1
