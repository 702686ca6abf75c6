-- When each scheduled task last succeeded, in any process, so that a machine that
-- sleeps at night runs what it missed.
CREATE TABLE private.tasks (
    name         text CONSTRAINT tasks_pkey PRIMARY KEY CONSTRAINT tasks_name_length CHECK (octet_length(name) BETWEEN 1 AND 200),
    known_since  timestamptz NOT NULL DEFAULT clock_timestamp(),
    succeeded_at timestamptz
);
COMMENT ON TABLE private.tasks IS 'When each scheduled task last succeeded.';
COMMENT ON COLUMN private.tasks.known_since IS 'When a process first added it.';
COMMENT ON COLUMN private.tasks.succeeded_at IS 'When its last successful run ended; null: it never succeeded.';

CALL private.protect('private.tasks', 'SELECT, INSERT, UPDATE');
