CREATE TABLE private.cron_events (
    event_id text CONSTRAINT cron_events_pkey PRIMARY KEY CONSTRAINT cron_events_event_id_length CHECK (octet_length(event_id) <= 255),
    ran_at   timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE private.cron_events IS 'Events, such as of a payment provider, that have started what was due: each does so once.';
CALL private.protect('private.cron_events', 'SELECT, INSERT, DELETE');
