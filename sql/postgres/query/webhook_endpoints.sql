-- webhook_endpoints: the endpoints, of the organization $1 and of the id $2 where those are not null; the oldest first.
SELECT
    e.id,
    e.organization_id,
    e.brand_id,
    b.slug AS brand,
    e.kind,
    e.url,
    e.description,
    e.events,
    e.is_active,
    e.failing_since,
    e.disabled_at,
    e.disabled_reason,
    e.last_delivered_at,
    e.created_at
FROM public.webhook_endpoints AS e
LEFT JOIN public.brands AS b ON b.id = e.brand_id
WHERE ($1::uuid IS NULL OR e.organization_id = $1)
  AND ($2::uuid IS NULL OR e.id = $2)
ORDER BY e.created_at, e.id
