-- test_webhook: adds the event webhook.test and its delivery to the endpoint $1 alone; returns the delivery's id.
INSERT INTO public.webhook_deliveries (organization_id, endpoint_id, event, event_id)
SELECT
    organization_id,
    id,
    'webhook.test',
    private.emit(organization_id, brand_id, 'webhook.test',
        jsonb_build_object('endpoint', jsonb_build_object('id', id, 'host', private.host_of(url))))
FROM public.webhook_endpoints
WHERE id = $1
RETURNING id
