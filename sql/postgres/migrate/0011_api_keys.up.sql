CREATE TABLE public.api_keys (
    id              uuid DEFAULT gen_random_uuid() CONSTRAINT api_keys_pkey PRIMARY KEY,
    organization_id uuid NOT NULL CONSTRAINT api_keys_organization_id_fkey REFERENCES public.organizations ON DELETE CASCADE,
    user_id         uuid NOT NULL CONSTRAINT api_keys_user_id_fkey REFERENCES private.users ON DELETE CASCADE,
    name            text NOT NULL CONSTRAINT api_keys_name_length CHECK (octet_length(name) <= 512 AND btrim(name) <> ''),
    key_hash        bytea NOT NULL CONSTRAINT api_keys_key_hash_key UNIQUE
                                   CONSTRAINT api_keys_key_hash_length CHECK (octet_length(key_hash) = 32),
    prefix          text NOT NULL CONSTRAINT api_keys_prefix_length CHECK (char_length(prefix) <= 20),
    scopes          text[] NOT NULL DEFAULT '{}' CONSTRAINT api_keys_scopes_are_words CHECK (private.are_words(scopes)),
    expires_at      timestamptz,
    last_used_at    timestamptz,
    revoked_at      timestamptz,
    created_at      timestamptz NOT NULL DEFAULT now(),
    updated_at      timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX api_keys_organization_id_idx ON public.api_keys (organization_id);
CREATE INDEX api_keys_user_id_idx ON public.api_keys (user_id);
COMMENT ON TABLE public.api_keys IS 'Long-lived keys of a user, for that user''s organization. Made and revoked elsewhere: a key is shown once.';
COMMENT ON COLUMN public.api_keys.key_hash IS 'SHA-256 of the key; no client may read it.';
COMMENT ON COLUMN public.api_keys.prefix IS 'The first characters of the key, which identify it.';
COMMENT ON COLUMN public.api_keys.last_used_at IS 'To the minute.';

CREATE TRIGGER stamp BEFORE UPDATE ON public.api_keys
    FOR EACH ROW EXECUTE FUNCTION private.stamp();

ALTER TABLE public.api_keys ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.api_keys FORCE ROW LEVEL SECURITY;
CREATE POLICY service ON public.api_keys TO answerscope_owner, answerscope_service USING (true) WITH CHECK (true);
CREATE POLICY reads ON public.api_keys FOR SELECT TO authenticated USING (organization_id = (SELECT private.org_id()));
GRANT SELECT, INSERT, UPDATE, DELETE ON public.api_keys TO answerscope_service;
GRANT SELECT (id, organization_id, user_id, name, prefix, scopes, expires_at, last_used_at, revoked_at, created_at, updated_at)
    ON public.api_keys TO authenticated;
