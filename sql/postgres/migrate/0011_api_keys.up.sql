CREATE TABLE public.api_keys (
    id              uuid DEFAULT gen_random_uuid() CONSTRAINT api_keys_pkey PRIMARY KEY,
    organization_id uuid NOT NULL CONSTRAINT api_keys_organization_id_fkey REFERENCES public.organizations ON DELETE CASCADE,
    user_id         uuid NOT NULL CONSTRAINT api_keys_user_id_fkey REFERENCES private.users ON DELETE CASCADE,
    name            text NOT NULL CONSTRAINT api_keys_name_form CHECK (private.is_name(name)),
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
COMMENT ON TABLE public.api_keys IS 'Long-lived keys of a user, for that user''s organization. Made and revoked by /api/keys: a key is shown once.';
COMMENT ON COLUMN public.api_keys.prefix IS 'The first characters of the key, which identify it.';
COMMENT ON COLUMN public.api_keys.last_used_at IS 'To the minute.';

CREATE TABLE private.api_key_hashes (
    api_key_id uuid CONSTRAINT api_key_hashes_pkey PRIMARY KEY
                    CONSTRAINT api_key_hashes_api_key_id_fkey REFERENCES public.api_keys ON DELETE CASCADE,
    hash       bytea NOT NULL CONSTRAINT api_key_hashes_hash_key UNIQUE
                     CONSTRAINT api_key_hashes_hash_length CHECK (octet_length(hash) = 32)
);
COMMENT ON TABLE private.api_key_hashes IS 'What keys are found by. A table of its own, so that clients may read every column of api_keys.';
COMMENT ON COLUMN private.api_key_hashes.hash IS 'SHA-256 of the key.';

CREATE TRIGGER stamp BEFORE UPDATE ON public.api_keys
    FOR EACH ROW EXECUTE FUNCTION private.stamp();

CALL private.protect('public.api_keys');
CREATE POLICY reads ON public.api_keys FOR SELECT TO authenticated
    USING (organization_id = (SELECT private.org_id())
           AND (user_id = (SELECT private.user_id()) OR organization_id = (SELECT private.org_id('admin'))));
GRANT SELECT ON public.api_keys TO authenticated;

CALL private.protect('private.api_key_hashes', 'SELECT, INSERT');
