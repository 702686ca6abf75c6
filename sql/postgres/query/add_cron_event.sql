-- add_cron_event: stores that an event has started what was due, for 90 days.
WITH expired AS (
    DELETE FROM private.cron_events
    WHERE ran_at < now() - INTERVAL '90 days'
)
INSERT INTO private.cron_events (event_id)
VALUES ($1)
ON CONFLICT DO NOTHING
