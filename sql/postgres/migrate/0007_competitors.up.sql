CREATE TABLE public.competitors (
    id              uuid DEFAULT gen_random_uuid() CONSTRAINT competitors_pkey PRIMARY KEY,
    brand_id        uuid NOT NULL,
    organization_id uuid NOT NULL,
    name            text NOT NULL CONSTRAINT competitors_name_form CHECK (private.is_name(name)),
    aliases         text[] NOT NULL DEFAULT '{}' CONSTRAINT competitors_aliases_are_words CHECK (private.are_words(aliases)),
    domain          text,
    domains         text[] NOT NULL DEFAULT '{}' CONSTRAINT competitors_domains_are_hosts CHECK (private.are_hosts(domains)),
    created_at      timestamptz NOT NULL DEFAULT now(),
    updated_at      timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT competitors_brand_id_fkey FOREIGN KEY (brand_id) REFERENCES public.brands ON DELETE CASCADE,
    CONSTRAINT competitors_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations ON DELETE CASCADE,
    CONSTRAINT competitors_brand_id_name_key UNIQUE (brand_id, name),
    CONSTRAINT competitors_domain_is_first CHECK (domain IS NOT DISTINCT FROM domains[1])
);
CREATE INDEX competitors_organization_id_idx ON public.competitors (organization_id);
COMMENT ON TABLE public.competitors IS 'What a brand is compared with.';
COMMENT ON COLUMN public.competitors.domain IS 'The first of domains. Written alone, it replaces that one; null removes it.';
COMMENT ON COLUMN public.competitors.domains IS 'Hosts as private.domain_of has them, each once; what is written may be any addresses of them.';

-- domain is the first of domains. A client that writes only domain replaces the first.
CREATE FUNCTION private.keep_domains() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $$
DECLARE
    rest text[] := NEW.domains;
BEGIN
    IF TG_OP = 'INSERT' THEN
        NEW.domains := NEW.domain || coalesce(NEW.domains, '{}');
    ELSIF NEW.domains IS NOT DISTINCT FROM OLD.domains AND NEW.domain IS DISTINCT FROM OLD.domain THEN
        NEW.domains := NEW.domain || rest[2:];
    END IF;
    NEW.domains := private.domains_of(NEW.domains);
    NEW.domain := NEW.domains[1];
    RETURN NEW;
END
$$;

CREATE FUNCTION private.write_competitor_changes() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $$
BEGIN
    INSERT INTO private.outbox (kind, row_id, organization_id, brand_id, payload, deleted)
    SELECT
        'competitor', c.id, c.organization_id, c.brand_id,
        jsonb_build_object('name', c.name, 'aliases', c.aliases, 'domains', c.domains),
        TG_OP = 'DELETE'
    FROM changed AS c;
    IF FOUND THEN
        PERFORM pg_notify('answerscope_outbox', '');
    END IF;
    RETURN NULL;
END
$$;

CALL private.anchor('public.competitors', 'fill_from_brand');
CREATE TRIGGER keep_domains BEFORE INSERT OR UPDATE OF domain, domains ON public.competitors
    FOR EACH ROW EXECUTE FUNCTION private.keep_domains();
CREATE TRIGGER revise_insert AFTER INSERT ON public.competitors
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION private.revise_brands();
CREATE TRIGGER revise_update AFTER UPDATE ON public.competitors
    REFERENCING OLD TABLE AS before NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION private.revise_brands_on_update('updated_at');
CREATE TRIGGER revise_delete AFTER DELETE ON public.competitors
    REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION private.revise_brands();
CALL private.follow('public.competitors', 'write_changes', 'write_competitor_changes');

CALL private.protect('public.competitors');
CALL private.admit('public.competitors', 'viewer', 'member');
