-- Changes of brands, competitors, prompts and topics, written by their triggers in the transaction of the change. The
-- mirror copies them to the warehouse and deletes what it has copied. An id is drawn while the changed row is locked,
-- so the later of two changes of a row has the higher id: it is the row's version. Ids of different rows may appear out
-- of order.
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
COMMENT ON TABLE private.outbox IS 'Changes that the warehouse lacks.';
COMMENT ON COLUMN private.outbox.payload IS 'The row as it is, or as it last was when deleted.';

CALL private.protect('private.outbox', 'SELECT, DELETE');
