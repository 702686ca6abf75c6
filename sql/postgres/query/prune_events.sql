-- prune_events: deletes events of more than 90 days ago with their deliveries and mails, other mails, judged days, links
-- that expired as long ago, and addresses that were not confirmed while their link worked.
WITH mails AS (
    DELETE FROM private.mails
    WHERE event_id IS NULL
      AND created_at < now() - INTERVAL '90 days'
), links AS (
    DELETE FROM private.one_time_links
    WHERE expires_at < now() - INTERVAL '90 days'
), days AS (
    DELETE FROM private.judged_days
    WHERE day < now() - INTERVAL '90 days'
), addresses AS (
    DELETE FROM public.subscriptions
    WHERE address IS NOT NULL
      AND confirmed_at IS NULL
      AND stopped_at IS NULL
      AND created_at < now() - INTERVAL '7 days'
)
DELETE FROM public.events
WHERE at < now() - INTERVAL '90 days'
