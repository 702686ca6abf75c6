-- end_delivery: stores how an attempt of a delivery ended: its status now, and the seconds until the next attempt. A
-- response of 410 disables the endpoint, and so does a delivery that failed for good, if another one did since the
-- endpoint last succeeded, and that is 5 days ago.
WITH ended AS (
    UPDATE public.webhook_deliveries
    SET
        holder = NULL,
        leased_until = NULL,
        status = $3,
        next_attempt_at = clock_timestamp() + make_interval(secs => $4),
        response_status = nullif($5::int, 0),
        duration_ms = $6,
        error = nullif(left($7, 200), ''),
        response_excerpt = nullif(left($8, 512), ''),
        delivered_at = CASE WHEN $3 = 'delivered' THEN clock_timestamp() END
    WHERE id = $1
      AND holder = $2
      AND status = 'pending'
    RETURNING endpoint_id
), found AS (
    SELECT
        e.id,
        CASE
            WHEN $5 = 410 THEN 'gone'
            WHEN $3 = 'failed' AND e.failing_since <= now() - INTERVAL '5 days' AND EXISTS (
                     SELECT
                     FROM public.webhook_deliveries AS d
                     WHERE d.endpoint_id = e.id
                       AND d.id <> $1
                       AND d.status = 'failed'
                       AND d.next_attempt_at >= e.failing_since) THEN 'failing'
        END AS reason
    FROM ended
    JOIN public.webhook_endpoints AS e ON e.id = ended.endpoint_id
)
UPDATE public.webhook_endpoints AS e
SET
    last_delivered_at = CASE WHEN $3 = 'delivered' THEN clock_timestamp() ELSE e.last_delivered_at END,
    failing_since = CASE WHEN $3 <> 'delivered' THEN coalesce(e.failing_since, clock_timestamp()) END,
    is_active = e.is_active AND f.reason IS NULL,
    disabled_at = CASE WHEN f.reason IS NULL THEN e.disabled_at ELSE clock_timestamp() END,
    disabled_reason = coalesce(f.reason, e.disabled_reason)
FROM found AS f
WHERE e.id = f.id
