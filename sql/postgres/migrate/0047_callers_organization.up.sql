-- A client's row that names no organization is the caller's. Another one's is refused as before.
CREATE FUNCTION private.fill_organization() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $$
BEGIN
    NEW.organization_id := private.org_id();
    RETURN NEW;
END
$$;
CREATE TRIGGER fill BEFORE INSERT ON public.brands
    FOR EACH ROW WHEN (NEW.organization_id IS NULL) EXECUTE FUNCTION private.fill_organization();
CREATE TRIGGER fill BEFORE INSERT ON public.members
    FOR EACH ROW WHEN (NEW.organization_id IS NULL) EXECUTE FUNCTION private.fill_organization();
COMMENT ON COLUMN public.brands.organization_id IS 'The caller''s when missing.';
COMMENT ON COLUMN public.members.organization_id IS 'The caller''s when missing.';
