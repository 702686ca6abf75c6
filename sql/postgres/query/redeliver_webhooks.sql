-- redeliver_webhooks: makes deliveries to the endpoint $1 pending again and returns their number: the delivery $2, or
-- those that failed or were cancelled of the events from $3 to $4.
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
)
SELECT count(*) FROM repeated
