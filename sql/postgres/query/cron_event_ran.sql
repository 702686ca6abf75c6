-- cron_event_ran: whether an event has started what was due.
SELECT EXISTS (SELECT FROM private.cron_events WHERE event_id = $1)
