CREATE TABLE public.brands (
    id              uuid DEFAULT gen_random_uuid() CONSTRAINT brands_pkey PRIMARY KEY,
    organization_id uuid NOT NULL CONSTRAINT brands_organization_id_fkey REFERENCES public.organizations ON DELETE CASCADE,
    name            text NOT NULL CONSTRAINT brands_name_form CHECK (private.is_name(name)),
    slug            text NOT NULL CONSTRAINT brands_slug_form CHECK (private.is_slug(slug)),
    industry        text CONSTRAINT brands_industry_length CHECK (char_length(industry) <= 200),
    region          text CONSTRAINT brands_region_length CHECK (char_length(region) <= 100),
    language        text CONSTRAINT brands_language_length CHECK (octet_length(language) <= 64),
    aliases         text[] NOT NULL DEFAULT '{}' CONSTRAINT brands_aliases_are_words CHECK (private.are_words(aliases)),
    is_active       bool NOT NULL DEFAULT true,
    revision        int NOT NULL DEFAULT 1,
    created_at      timestamptz NOT NULL DEFAULT now(),
    updated_at      timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT brands_organization_id_slug_key UNIQUE (organization_id, slug)
);
COMMENT ON TABLE public.brands IS 'A brand whose presence in AI answers is tracked.';
COMMENT ON COLUMN public.brands.slug IS 'Its name in addresses, unique in the organization; made from the name when missing.';
COMMENT ON COLUMN public.brands.aliases IS 'Other names that count as a mention.';
COMMENT ON COLUMN public.brands.revision IS 'Rises with every edit of names, aliases, domains or competitors; what is written to it is ignored.';

CREATE FUNCTION private.fill_brand_slug() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $$
DECLARE
    base text := private.slug_of(NEW.name, 'brand');
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('brands of ' || NEW.organization_id, 0)); -- two of one name at once get different slugs
    NEW.slug := private.free_slug(base, ARRAY(
        SELECT b.slug FROM public.brands AS b WHERE b.organization_id = NEW.organization_id AND starts_with(b.slug, base)));
    RETURN NEW;
END
$$;

-- Counts edits. Only the triggers of domains and competitors, which run as the owner, may raise the number themselves.
CREATE FUNCTION private.revise_brand() RETURNS trigger
LANGUAGE plpgsql SET search_path = '' AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        NEW.revision := 1;
    ELSIF (NEW.name, NEW.aliases) IS DISTINCT FROM (OLD.name, OLD.aliases) THEN
        NEW.revision := OLD.revision + 1;
    ELSIF current_user <> 'answerscope_owner' THEN
        NEW.revision := OLD.revision;
    END IF;
    RETURN NEW;
END
$$;

-- For the tables of a brand's domains and competitors.
CREATE FUNCTION private.revise_brands() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $$
BEGIN
    UPDATE public.brands SET revision = revision + 1 WHERE id IN (SELECT brand_id FROM changed);
    RETURN NULL;
END
$$;

-- The arguments are the columns that do not count as an edit.
CREATE FUNCTION private.revise_brands_on_update() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $$
BEGIN
    UPDATE public.brands SET revision = revision + 1
    WHERE id IN (
        SELECT brand_id
        FROM (SELECT c.brand_id, to_jsonb(c) - TG_ARGV FROM changed AS c
              EXCEPT
              SELECT b.brand_id, to_jsonb(b) - TG_ARGV FROM before AS b) AS edited
    );
    RETURN NULL;
END
$$;

CREATE FUNCTION private.write_brand_changes() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $$
BEGIN
    INSERT INTO private.outbox (kind, row_id, organization_id, brand_id, payload, deleted)
    SELECT
        'brand', c.id, c.organization_id, c.id,
        jsonb_build_object(
            'name', c.name, 'slug', c.slug, 'aliases', c.aliases,
            'domains', ARRAY(SELECT d.domain FROM public.brand_domains AS d WHERE d.brand_id = c.id ORDER BY d.is_primary DESC, d.created_at, d.id),
            'industry', coalesce(c.industry, ''), 'region', coalesce(c.region, ''), 'language', coalesce(c.language, ''),
            'revision', c.revision, 'is_active', c.is_active),
        TG_OP = 'DELETE'
    FROM changed AS c;
    IF FOUND THEN
        PERFORM pg_notify('answerscope_outbox', '');
    END IF;
    RETURN NULL;
END
$$;

-- Collectors have all domains in memory, and are notified to read them again. One that misses a notification notices by
-- revision, which every change of domains raises.
CREATE FUNCTION private.notify_sites() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $$
BEGIN
    IF EXISTS (SELECT FROM changed) THEN
        PERFORM pg_notify('answerscope_sites', '');
    END IF;
    RETURN NULL;
END
$$;

CREATE FUNCTION private.add_brand_tombstone() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $$
BEGIN
    INSERT INTO private.tombstones (kind, id, organization_id) VALUES ('brand', OLD.id, OLD.organization_id) ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;

CREATE TRIGGER fill_slug BEFORE INSERT ON public.brands
    FOR EACH ROW WHEN (coalesce(NEW.slug, '') = '') EXECUTE FUNCTION private.fill_brand_slug();
CREATE TRIGGER revise BEFORE INSERT OR UPDATE ON public.brands
    FOR EACH ROW EXECUTE FUNCTION private.revise_brand();
CREATE TRIGGER stamp BEFORE INSERT OR UPDATE ON public.brands
    FOR EACH ROW EXECUTE FUNCTION private.stamp();
CREATE TRIGGER stay BEFORE UPDATE ON public.brands
    FOR EACH ROW WHEN ((OLD.id, OLD.organization_id) IS DISTINCT FROM (NEW.id, NEW.organization_id))
    EXECUTE FUNCTION private.refuse_move();
CREATE TRIGGER add_tombstone AFTER DELETE ON public.brands
    FOR EACH ROW EXECUTE FUNCTION private.add_brand_tombstone();
CREATE TRIGGER refuse_deleted AFTER INSERT ON public.brands
    FOR EACH ROW EXECUTE FUNCTION private.refuse_deleted('brand');
CALL private.follow('public.brands', 'write_changes', 'write_brand_changes');
CREATE TRIGGER notify_sites_insert AFTER INSERT ON public.brands
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION private.notify_sites();
CREATE TRIGGER notify_sites_delete AFTER DELETE ON public.brands
    REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION private.notify_sites();

CALL private.protect('public.brands');
CALL private.admit('public.brands', 'viewer', 'member');

-- A row of a brand belongs to the brand's organization, whatever the client writes. If the brand does not exist it is
-- the nil organization's, so that a client gets the same refusal as for another organization's brand.
CREATE FUNCTION private.fill_from_brand() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $$
BEGIN
    NEW.organization_id := coalesce(
        (SELECT b.organization_id FROM public.brands AS b WHERE b.id = NEW.brand_id),
        '00000000-0000-0000-0000-000000000000');
    RETURN NEW;
END
$$;
