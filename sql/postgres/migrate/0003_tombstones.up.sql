-- Deleted brands and organizations, permanently: sinks drop their late records, and their rows in the warehouse are
-- purged at once, again when records that were under way have been inserted, and every night.
CREATE TABLE private.tombstones (
    kind            text NOT NULL CONSTRAINT tombstones_kind_is_known CHECK (kind IN ('brand', 'organization')),
    id              uuid NOT NULL,
    organization_id uuid NOT NULL,
    at              timestamptz NOT NULL DEFAULT now(),
    purged_at       timestamptz,
    CONSTRAINT tombstones_pkey PRIMARY KEY (kind, id)
);
COMMENT ON TABLE private.tombstones IS 'Brands and organizations that were deleted.';
COMMENT ON COLUMN private.tombstones.purged_at IS 'Start of its last complete purge; null: none.';

CALL private.protect('private.tombstones', 'SELECT, UPDATE (purged_at)');
-- A client may choose a row's id, even one that it deleted. Records of an id with a tombstone are always dropped, so
-- the id is refused: after the insert, which waits for a deletion that is under way.
CREATE FUNCTION private.refuse_deleted() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $$
BEGIN
    IF EXISTS (SELECT FROM private.tombstones WHERE kind = TG_ARGV[0] AND id = NEW.id) THEN
        RAISE EXCEPTION 'the % % was deleted, and what is known of it is removed: leave the id out', TG_ARGV[0], NEW.id
            USING ERRCODE = 'check_violation', TABLE = TG_TABLE_NAME, SCHEMA = TG_TABLE_SCHEMA;
    END IF;
    RETURN NULL;
END
$$;

