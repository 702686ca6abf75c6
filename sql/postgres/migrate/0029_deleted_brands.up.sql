-- Deleting a brand raises the warehouse version, so that no body cached before answers for it until the deletion has
-- reached ClickHouse.
CREATE FUNCTION private.note_deleted_brands() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $$
BEGIN
    PERFORM nextval('private.warehouse_changes');
    RETURN NULL;
END
$$;

CREATE TRIGGER note_deletion AFTER DELETE ON public.brands
    FOR EACH STATEMENT EXECUTE FUNCTION private.note_deleted_brands();
