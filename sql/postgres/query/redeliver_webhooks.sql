-- redeliver_webhooks: makes deliveries to the endpoint $1 pending again and returns their number: the delivery $2, or
-- what failed, was cancelled or was missed of the events from $3 to $4.
WITH repeated AS (
    UPDATE public.webhook_deliveries AS d
    SET
        status = 'pending',
        attempts = 0,
        next_attempt_at = now()
    FROM public.events AS v
    WHERE v.id = d.event_id
      AND d.endpoint_id = $1
      AND (d.id = $2 OR d.status IN ('failed', 'cancelled') AND v.at BETWEEN $3 AND $4)
    RETURNING d.id
),
missed AS (
    INSERT INTO public.webhook_deliveries (organization_id, endpoint_id, event_id, event)
    SELECT
        e.organization_id,
        e.id,
        v.id,
        v.type
    FROM public.webhook_endpoints AS e
    JOIN public.events AS v ON v.organization_id = e.organization_id
    WHERE e.id = $1
      AND v.at BETWEEN greatest($3, e.created_at) AND $4
      AND v.type <> 'webhook.test'
      AND private.hears(e, v)
    ON CONFLICT DO NOTHING
    RETURNING id
)
SELECT (SELECT count(*) FROM repeated) + (SELECT count(*) FROM missed)
