-- A competitor has the same colour in every chart, whatever is filtered.
ALTER TABLE public.competitors
    ADD COLUMN slot smallint CONSTRAINT competitors_slot_exists CHECK (slot BETWEEN 1 AND 8),
    ADD CONSTRAINT competitors_brand_id_slot_key UNIQUE (brand_id, slot);
COMMENT ON COLUMN public.competitors.slot IS 'Its colour in charts: the lowest that was free when it was added, null where none was; filled.';

ALTER TABLE public.competitors DISABLE TRIGGER USER; -- a slot is no edit of names
UPDATE public.competitors AS c
SET slot = numbered.place
FROM (
    SELECT id, row_number() OVER (PARTITION BY brand_id ORDER BY created_at, id) AS place FROM public.competitors
) AS numbered
WHERE numbered.id = c.id
  AND numbered.place <= 8;
ALTER TABLE public.competitors ENABLE TRIGGER USER;

CREATE FUNCTION private.fill_slot() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $$
BEGIN
    IF TG_OP = 'UPDATE' THEN
        NEW.slot := OLD.slot;
        RETURN NEW;
    END IF;
    PERFORM FROM public.brands AS b WHERE b.id = NEW.brand_id FOR NO KEY UPDATE; -- two requests choose in turn
    NEW.slot := (
        SELECT min(free.slot)
        FROM generate_series(1, 8) AS free (slot)
        WHERE NOT EXISTS (SELECT FROM public.competitors AS c WHERE c.brand_id = NEW.brand_id AND c.slot = free.slot)
    );
    RETURN NEW;
END
$$;
CREATE TRIGGER fill_slot BEFORE INSERT OR UPDATE OF slot ON public.competitors
    FOR EACH ROW EXECUTE FUNCTION private.fill_slot();
