-- lease_deliveries: leases deliveries that are due, at most $3, for $2 seconds: of each active endpoint that has none
-- leased a test, or the most overdue. An attempt whose process ended is repeated, and not counted again.
WITH due AS (
    SELECT d.id
    FROM public.webhook_endpoints AS e
    CROSS JOIN LATERAL (
        SELECT id, next_attempt_at
        FROM public.webhook_deliveries
        WHERE endpoint_id = e.id
          AND status = 'pending'
          AND next_attempt_at <= now()
        ORDER BY event <> 'webhook.test', next_attempt_at
        LIMIT 1
    ) AS d
    WHERE e.is_active
      AND NOT EXISTS (SELECT FROM public.webhook_deliveries AS l WHERE l.endpoint_id = e.id AND l.leased_until > now())
    ORDER BY d.next_attempt_at
    LIMIT $3
), free AS (
    SELECT id
    FROM public.webhook_deliveries
    WHERE id IN (SELECT id FROM due)
      AND status = 'pending'
      AND coalesce(leased_until <= now(), true)
    FOR UPDATE SKIP LOCKED
)
UPDATE public.webhook_deliveries AS d
SET
    holder = $1,
    leased_until = now() + make_interval(secs => $2),
    attempts = d.attempts + (d.holder IS NULL)::int
FROM free
JOIN public.webhook_deliveries AS leased ON leased.id = free.id
JOIN public.webhook_endpoints AS e ON e.id = leased.endpoint_id
JOIN public.events AS v ON v.id = leased.event_id
WHERE d.id = free.id
RETURNING
    d.id,
    d.endpoint_id,
    d.attempts,
    e.kind,
    e.url,
    ARRAY(
        SELECT s.sealed
        FROM private.webhook_secrets AS s
        WHERE s.endpoint_id = e.id
          AND coalesce(s.expires_at > now(), true)
        ORDER BY s.created_at DESC
    ) AS secrets,
    v.id AS event_id,
    v.organization_id,
    v.type,
    v.at,
    v.data
