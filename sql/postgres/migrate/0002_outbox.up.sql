-- What changed in brands, competitors, prompts and topics, written by their triggers
-- in the transaction of the change; the mirror copies it to the warehouse and deletes
-- what it has copied. An id is drawn while the changed row is locked, so of two
-- changes of one row the later has the higher id, a deletion included: it is the
-- row's version. Ids of different rows may appear out of order.
CREATE TABLE private.outbox (
    id              bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT outbox_pkey PRIMARY KEY,
    kind            text NOT NULL CONSTRAINT outbox_kind_is_known CHECK (kind IN ('brand', 'competitor', 'prompt', 'topic')),
    row_id          uuid NOT NULL,
    organization_id uuid NOT NULL,
    brand_id        uuid NOT NULL,
    payload         jsonb NOT NULL,
    deleted         bool NOT NULL,
    at              timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE private.outbox IS 'Changes that the warehouse has yet to learn.';
COMMENT ON COLUMN private.outbox.payload IS 'The row as it is, or as it last was when deleted.';

ALTER TABLE private.outbox ENABLE ROW LEVEL SECURITY;
ALTER TABLE private.outbox FORCE ROW LEVEL SECURITY;
CREATE POLICY service ON private.outbox TO answerscope_owner, answerscope_service USING (true) WITH CHECK (true);
GRANT SELECT, DELETE ON private.outbox TO answerscope_service;

-- Brands and organizations that were deleted, for ever: late records of them are
-- dropped and what they left in the warehouse is purged.
CREATE TABLE private.tombstones (
    kind            text NOT NULL CONSTRAINT tombstones_kind_is_known CHECK (kind IN ('brand', 'organization')),
    id              uuid NOT NULL,
    organization_id uuid NOT NULL,
    at              timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT tombstones_pkey PRIMARY KEY (kind, id)
);
COMMENT ON TABLE private.tombstones IS 'Brands and organizations that were deleted.';

ALTER TABLE private.tombstones ENABLE ROW LEVEL SECURITY;
ALTER TABLE private.tombstones FORCE ROW LEVEL SECURITY;
CREATE POLICY service ON private.tombstones TO answerscope_owner, answerscope_service USING (true) WITH CHECK (true);
GRANT SELECT ON private.tombstones TO answerscope_service;
