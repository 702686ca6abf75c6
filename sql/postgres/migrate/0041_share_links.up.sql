-- Links by which people without an account see some screens of a brand.
CREATE TABLE public.share_links (
    id              uuid DEFAULT gen_random_uuid() CONSTRAINT share_links_pkey PRIMARY KEY,
    organization_id uuid NOT NULL CONSTRAINT share_links_organization_id_fkey REFERENCES public.organizations ON DELETE CASCADE,
    brand_id        uuid NOT NULL CONSTRAINT share_links_brand_id_fkey REFERENCES public.brands ON DELETE CASCADE,
    created_by      uuid CONSTRAINT share_links_created_by_fkey REFERENCES private.users ON DELETE SET NULL,
    title           text NOT NULL CONSTRAINT share_links_title_form CHECK (private.is_name(title)),
    screens         text[] NOT NULL CONSTRAINT share_links_screens_are_known
                    CHECK (screens <> '{}' AND screens <@ '{overview,competitors,sources,prompts,traffic,shopping,answers}'),
    filters         jsonb NOT NULL DEFAULT '{}' CONSTRAINT share_links_filters_is_object CHECK (jsonb_typeof(filters) = 'object'),
    embed_origins   text[] NOT NULL DEFAULT '{}' CONSTRAINT share_links_embed_origins_are_origins
                    CHECK (cardinality(embed_origins) <= 5 AND array_to_string(embed_origins, ' ', '-') ~ '^(https://[a-z0-9.-]+(:[0-9]+)?( |$))*$'),
    has_password    bool NOT NULL DEFAULT false,
    expires_at      timestamptz,
    revoked_at      timestamptz,
    last_used_at    timestamptz,
    created_at      timestamptz NOT NULL DEFAULT now(),
    updated_at      timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT share_links_password_is_not_embedded CHECK (NOT has_password OR embed_origins = '{}')
);
CREATE INDEX share_links_organization_id_idx ON public.share_links (organization_id);
CREATE INDEX share_links_brand_id_idx ON public.share_links (brand_id);
CREATE INDEX share_links_created_by_idx ON public.share_links (created_by);
COMMENT ON TABLE public.share_links IS 'By whoever has one, some screens of a brand are read without an account. Made and revoked by /api/shares: an address is shown once.';
COMMENT ON COLUMN public.share_links.filters IS 'Parameters of /api/v1 that it fixes; last_days: a window that ends today.';
COMMENT ON COLUMN public.share_links.embed_origins IS 'Whose pages may show it in a frame.';
COMMENT ON COLUMN public.share_links.expires_at IS 'Null: never.';
COMMENT ON COLUMN public.share_links.last_used_at IS 'To the hour.';

CREATE TABLE private.share_link_hashes (
    share_link_id uuid CONSTRAINT share_link_hashes_pkey PRIMARY KEY
                       CONSTRAINT share_link_hashes_share_link_id_fkey REFERENCES public.share_links ON DELETE CASCADE,
    hash          bytea NOT NULL CONSTRAINT share_link_hashes_hash_key UNIQUE
                        CONSTRAINT share_link_hashes_hash_length CHECK (octet_length(hash) = 32),
    password_hash text CONSTRAINT share_link_hashes_password_hash_length CHECK (char_length(password_hash) <= 500)
);
COMMENT ON TABLE private.share_link_hashes IS 'What links are found by: SHA-256 of the token, and argon2id of the password, as a PHC string.';

CREATE FUNCTION private.log_share_link() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $$
BEGIN
    PERFORM private.log_audit(CASE TG_OP WHEN 'INSERT' THEN 'share added' ELSE 'share revoked' END, NEW.organization_id,
        (SELECT b.slug FROM public.brands AS b WHERE b.id = NEW.brand_id) || ' ' || NEW.title);
    RETURN NULL;
END
$$;

CREATE TRIGGER fill BEFORE INSERT ON public.share_links
    FOR EACH ROW EXECUTE FUNCTION private.fill_from_brand();
CREATE TRIGGER limit_rows BEFORE INSERT ON public.share_links
    FOR EACH ROW EXECUTE FUNCTION private.limit_rows(50, 'a brand has at most 50 share links that work: revoke one first',
        'r.brand_id = ($1).brand_id AND r.revoked_at IS NULL AND coalesce(r.expires_at > now(), true)');
CREATE TRIGGER stamp BEFORE INSERT OR UPDATE ON public.share_links
    FOR EACH ROW EXECUTE FUNCTION private.stamp();
CREATE TRIGGER log_audit AFTER INSERT ON public.share_links
    FOR EACH ROW EXECUTE FUNCTION private.log_share_link();
CREATE TRIGGER log_audit_revoked AFTER UPDATE OF revoked_at ON public.share_links
    FOR EACH ROW WHEN (OLD.revoked_at IS NULL AND NEW.revoked_at IS NOT NULL) EXECUTE FUNCTION private.log_share_link();

CALL private.protect('public.share_links');
CALL private.admit('public.share_links', 'member');

CALL private.protect('private.share_link_hashes', 'SELECT, INSERT');
