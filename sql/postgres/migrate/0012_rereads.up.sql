-- Rereads: brands whose stored answers are due to be read again, with current names after an edit, or by a newer
-- extractor. A brand has one row, which stays when the reread is done.
--
-- asked_at is set while a request waits, due_at while work is left. A run with a start and no end goes on.
CREATE TABLE private.rereads (
    brand_id        uuid CONSTRAINT rereads_pkey PRIMARY KEY CONSTRAINT rereads_brand_id_fkey REFERENCES public.brands ON DELETE CASCADE,
    organization_id uuid NOT NULL CONSTRAINT rereads_organization_id_fkey REFERENCES public.organizations ON DELETE CASCADE,
    urgent          bool NOT NULL,
    asked_at        timestamptz,
    due_at          timestamptz,
    first_day       date,
    last_day        date,
    revision        int NOT NULL DEFAULT 0,
    extract_version int NOT NULL DEFAULT 0,
    cursor_day      date,
    cursor_id       uuid,
    done            bigint NOT NULL DEFAULT 0,
    total           bigint NOT NULL DEFAULT 0,
    left_over       bigint NOT NULL DEFAULT 0,
    started_at      timestamptz,
    finished_at     timestamptz,
    worked_at       timestamptz,
    holder          uuid,
    held_until      timestamptz,
    last_error      text CONSTRAINT rereads_last_error_length CHECK (char_length(last_error) <= 1000),
    CONSTRAINT rereads_cursor_is_whole CHECK ((cursor_day IS NULL) = (cursor_id IS NULL))
);
CREATE INDEX rereads_organization_id_idx ON private.rereads (organization_id);
CREATE INDEX rereads_due_at_idx ON private.rereads (due_at) WHERE due_at IS NOT NULL;
COMMENT ON TABLE private.rereads IS 'Brands whose stored answers are due to be read again, and the progress.';
COMMENT ON COLUMN private.rereads.urgent IS 'Requested by an edit or a person, so it precedes the brands that the sweep found.';
COMMENT ON COLUMN private.rereads.asked_at IS 'When the first waiting request came; null: none.';
COMMENT ON COLUMN private.rereads.due_at IS 'When it starts or goes on; null: it is done.';
COMMENT ON COLUMN private.rereads.first_day IS 'The earliest day to be read again; null: all.';
COMMENT ON COLUMN private.rereads.last_day IS 'The latest day to be read again; null: all.';
COMMENT ON COLUMN private.rereads.revision IS 'The brand''s revision with which the last page was read.';
COMMENT ON COLUMN private.rereads.cursor_day IS 'Everything up to this day''s answer cursor_id has been appended again; null: nothing.';
COMMENT ON COLUMN private.rereads.done IS 'Answers appended again by this run.';
COMMENT ON COLUMN private.rereads.total IS 'Answers with an older reading when this run began.';
COMMENT ON COLUMN private.rereads.left_over IS 'Answers that could not be appended again, or were not inserted.';
COMMENT ON COLUMN private.rereads.worked_at IS 'When a process last worked on it; the longest wait comes first.';
COMMENT ON COLUMN private.rereads.holder IS 'The process that holds its lease, until held_until.';

CALL private.protect('private.rereads');

-- Many edits in a row make one run: it is due 5 s after the last of them, and at most 60 s after the first.
CREATE FUNCTION private.queue_rereads() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $$
BEGIN
    INSERT INTO private.rereads AS r (brand_id, organization_id, urgent, asked_at, due_at)
    SELECT c.id, c.organization_id, true, clock_timestamp(), clock_timestamp() + INTERVAL '5 s'
    FROM changed AS c
    JOIN before AS b ON b.id = c.id
    WHERE c.revision <> b.revision
    ORDER BY c.id
    ON CONFLICT (brand_id) DO UPDATE SET
        urgent = true,
        asked_at = coalesce(r.asked_at, excluded.asked_at),
        due_at = least(excluded.due_at, coalesce(r.asked_at, excluded.asked_at) + INTERVAL '60 s'),
        first_day = NULL,
        last_day = NULL;
    RETURN NULL;
END
$$;
CREATE TRIGGER queue_rereads AFTER UPDATE ON public.brands
    REFERENCING OLD TABLE AS before NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION private.queue_rereads();
