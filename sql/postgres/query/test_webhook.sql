-- test_webhook: adds the event webhook.test and its delivery to the endpoint $1 alone; returns the delivery's id.
INSERT INTO public.webhook_deliveries (organization_id, endpoint_id, event, event_id)
SELECT
    e.organization_id,
    e.id,
    'webhook.test',
    v.id
FROM public.webhook_endpoints AS e
CROSS JOIN LATERAL private.emit(e.organization_id, e.brand_id, 'webhook.test',
    jsonb_build_object('endpoint', jsonb_build_object('id', e.id, 'host', private.host_of(e.url)))) AS v (id)
WHERE e.id = $1
  AND v.id IS NOT NULL -- null: its organization is being deleted
RETURNING id
