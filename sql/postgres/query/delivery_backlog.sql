-- delivery_backlog: by kind, what is pending, and the seconds since the most overdue of it was due. What waits for an
-- endpoint that is switched off, that has a delivery under way, or that took one within the last minute is not overdue.
SELECT
    k.kind,
    coalesce(sum(d.pending), 0)::bigint AS pending,
    coalesce(extract(epoch FROM now() - min(d.due) FILTER (
        WHERE e.is_active AND d.under_way = 0 AND coalesce(e.last_delivered_at < now() - INTERVAL '1 minute', true))), 0)::float8 AS seconds
FROM (VALUES ('webhook'), ('slack')) AS k (kind)
LEFT JOIN public.webhook_endpoints AS e ON e.kind = k.kind
LEFT JOIN (
    SELECT
        endpoint_id,
        count(*) AS pending,
        min(next_attempt_at) FILTER (WHERE next_attempt_at <= now()) AS due,
        count(*) FILTER (WHERE leased_until > now()) AS under_way
    FROM public.webhook_deliveries
    WHERE status = 'pending'
    GROUP BY endpoint_id
) AS d ON d.endpoint_id = e.id
GROUP BY k.kind
UNION ALL
SELECT
    'mail',
    count(*),
    coalesce(extract(epoch FROM now() - min(next_attempt_at) FILTER (WHERE next_attempt_at <= now())), 0)::float8
FROM private.mails
WHERE status = 'pending'
