-- Collectors hold all domains in memory and are told, in the transaction of the change,
-- that they must read them again. Who was not told notices by brands.revision, which
-- every change of domains raises.
CREATE FUNCTION private.tell_sites() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $$
BEGIN
    IF EXISTS (SELECT FROM changed) THEN
        PERFORM pg_notify('answerscope_sites', '');
    END IF;
    RETURN NULL;
END
$$;

CREATE TRIGGER tell_sites_insert AFTER INSERT ON public.brand_domains
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION private.tell_sites();
CREATE TRIGGER tell_sites_update AFTER UPDATE ON public.brand_domains
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION private.tell_sites();
CREATE TRIGGER tell_sites_delete AFTER DELETE ON public.brand_domains
    REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION private.tell_sites();
CREATE TRIGGER tell_sites_insert AFTER INSERT ON public.brands
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION private.tell_sites();
CREATE TRIGGER tell_sites_delete AFTER DELETE ON public.brands
    REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION private.tell_sites();
