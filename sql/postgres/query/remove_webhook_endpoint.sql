-- remove_webhook_endpoint: deletes an endpoint with its secrets and deliveries.
DELETE FROM public.webhook_endpoints
WHERE id = $1
