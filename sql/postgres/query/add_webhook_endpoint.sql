-- add_webhook_endpoint: adds an endpoint of the organization $2 with its secret, unless that has $10 already.
WITH added AS (
    INSERT INTO public.webhook_endpoints (id, organization_id, brand_id, kind, url, description, events, created_by)
    SELECT $1::uuid, $2::uuid, $3::uuid, $4::text, $5::text, $6::text, $7::text[], $8::uuid
    WHERE (SELECT count(*) FROM public.webhook_endpoints WHERE organization_id = $2) < $10::int
    RETURNING id, organization_id
)
INSERT INTO private.webhook_secrets (organization_id, endpoint_id, sealed)
SELECT organization_id, id, $9::text
FROM added
