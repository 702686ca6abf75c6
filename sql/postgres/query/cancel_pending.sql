-- cancel_pending: cancels every delivery and mail that is pending, and returns their number.
WITH deliveries AS (
    UPDATE public.webhook_deliveries
    SET
        status = 'cancelled',
        holder = NULL,
        leased_until = NULL
    WHERE status = 'pending'
    RETURNING id
), mails AS (
    UPDATE private.mails
    SET
        status = 'cancelled',
        holder = NULL,
        leased_until = NULL,
        sealed = NULL
    WHERE status = 'pending'
    RETURNING id
)
SELECT (SELECT count(*) FROM deliveries) + (SELECT count(*) FROM mails) AS cancelled
