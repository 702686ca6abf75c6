-- rotate_webhook_secret: makes $2 the secret of the endpoint $1. The current one expires in $3 seconds, older ones at
-- once.
WITH expired AS (
    DELETE FROM private.webhook_secrets
    WHERE endpoint_id = $1::uuid
      AND (expires_at IS NOT NULL OR $3::int = 0)
),
expiring AS (
    UPDATE private.webhook_secrets
    SET expires_at = now() + make_interval(secs => $3::int)
    WHERE endpoint_id = $1::uuid
      AND expires_at IS NULL
      AND $3::int > 0
),
added AS (
    INSERT INTO private.webhook_secrets (organization_id, endpoint_id, sealed)
    SELECT organization_id, id, $2::text
    FROM public.webhook_endpoints
    WHERE id = $1::uuid
)
SELECT private.log_audit('webhook secret rotated', organization_id, private.host_of(url), jsonb_build_object('id', id))
FROM public.webhook_endpoints
WHERE id = $1::uuid
