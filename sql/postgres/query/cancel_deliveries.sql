-- cancel_deliveries: cancels all deliveries that are pending.
UPDATE public.webhook_deliveries
SET
    status = 'cancelled',
    error = $1
WHERE status = 'pending'
