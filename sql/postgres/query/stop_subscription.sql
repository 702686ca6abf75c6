-- stop_subscription: stops the mails of the subscription $1; one that was stopped before stays so.
UPDATE public.subscriptions
SET stopped_at = coalesce(stopped_at, now())
WHERE id = $1
