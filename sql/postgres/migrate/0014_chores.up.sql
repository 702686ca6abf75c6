-- When chores of the timetable last succeeded, in whatever process: a machine that
-- sleeps at night makes up for what it missed.
CREATE TABLE private.chores (
    name         text CONSTRAINT chores_pkey PRIMARY KEY CONSTRAINT chores_name_length CHECK (octet_length(name) BETWEEN 1 AND 200),
    known_since  timestamptz NOT NULL DEFAULT clock_timestamp(),
    succeeded_at timestamptz
);
COMMENT ON TABLE private.chores IS 'When chores of the timetable last succeeded.';
COMMENT ON COLUMN private.chores.known_since IS 'When a process first had it in its timetable.';
COMMENT ON COLUMN private.chores.succeeded_at IS 'When its last run that succeeded came to its end; null: none has.';

ALTER TABLE private.chores ENABLE ROW LEVEL SECURITY;
ALTER TABLE private.chores FORCE ROW LEVEL SECURITY;
CREATE POLICY service ON private.chores TO answerscope_owner, answerscope_service USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE ON private.chores TO answerscope_service;
