-- webhook_deliveries: the newest $3 deliveries to the endpoint $1, of the id $2 where that is not null; the newest first.
SELECT
    id,
    event,
    event_id,
    status,
    attempts,
    next_attempt_at,
    response_status,
    duration_ms,
    error,
    response_excerpt,
    delivered_at,
    created_at
FROM public.webhook_deliveries
WHERE endpoint_id = $1
  AND ($2::uuid IS NULL OR id = $2)
ORDER BY created_at DESC, id DESC
LIMIT $3
