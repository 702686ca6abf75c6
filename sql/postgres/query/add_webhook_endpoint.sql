-- add_webhook_endpoint: adds an endpoint of the organization $2 with its secret $9.
WITH added AS (
    INSERT INTO public.webhook_endpoints (id, organization_id, brand_id, kind, url, description, events, created_by)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
    RETURNING id, organization_id
)
INSERT INTO private.webhook_secrets (organization_id, endpoint_id, sealed)
SELECT organization_id, id, $9::text
FROM added
