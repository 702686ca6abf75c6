CREATE TABLE public.brand_domains (
    id              uuid DEFAULT gen_random_uuid() CONSTRAINT brand_domains_pkey PRIMARY KEY,
    brand_id        uuid NOT NULL,
    organization_id uuid NOT NULL,
    domain          text NOT NULL CONSTRAINT brand_domains_domain_is_host CHECK (private.are_hosts(ARRAY[domain])),
    country         text CONSTRAINT brand_domains_country_length CHECK (char_length(country) <= 100),
    is_primary      bool NOT NULL DEFAULT false,
    created_at      timestamptz NOT NULL DEFAULT now(),
    updated_at      timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT brand_domains_brand_id_fkey FOREIGN KEY (brand_id) REFERENCES public.brands ON DELETE CASCADE,
    CONSTRAINT brand_domains_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations ON DELETE CASCADE,
    CONSTRAINT brand_domains_brand_id_domain_key UNIQUE (brand_id, domain)
);
CREATE INDEX brand_domains_organization_id_idx ON public.brand_domains (organization_id);
COMMENT ON TABLE public.brand_domains IS 'The hosts that are a brand''s own, with everything under them.';
COMMENT ON COLUMN public.brand_domains.domain IS 'A host as private.domain_of has it; what is written may be any address of it.';

CREATE FUNCTION private.keep_domain() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $$
BEGIN
    NEW.domain := private.domain_of(NEW.domain);
    RETURN NEW;
END
$$;

CALL private.anchor('public.brand_domains', 'fill_from_brand');
CREATE TRIGGER keep_domain BEFORE INSERT OR UPDATE OF domain ON public.brand_domains
    FOR EACH ROW EXECUTE FUNCTION private.keep_domain();
CREATE TRIGGER revise_insert AFTER INSERT ON public.brand_domains
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION private.revise_brands();
CREATE TRIGGER revise_update AFTER UPDATE ON public.brand_domains
    REFERENCING OLD TABLE AS before NEW TABLE AS changed FOR EACH STATEMENT
    EXECUTE FUNCTION private.revise_brands_on_update('updated_at', 'country', 'is_primary');
CREATE TRIGGER revise_delete AFTER DELETE ON public.brand_domains
    REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION private.revise_brands();
CALL private.follow('public.brand_domains', 'notify_sites', 'notify_sites');

CALL private.protect('public.brand_domains');
CALL private.admit('public.brand_domains', 'viewer', 'member');
