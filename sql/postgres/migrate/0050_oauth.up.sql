-- Apps that read for a user by OAuth: who registered, what users consented to, and the tokens that follow.
CREATE TABLE private.oauth_clients (
    id            uuid DEFAULT gen_random_uuid() CONSTRAINT oauth_clients_pkey PRIMARY KEY,
    name          text NOT NULL CONSTRAINT oauth_clients_name_form CHECK (private.is_name(name)),
    redirect_uris text[] NOT NULL CONSTRAINT oauth_clients_redirect_uris_count CHECK (cardinality(redirect_uris) BETWEEN 1 AND 10),
    created_at    timestamptz NOT NULL DEFAULT now(),
    used_at       timestamptz
);
CREATE INDEX oauth_clients_created_at_idx ON private.oauth_clients (created_at DESC);
COMMENT ON TABLE private.oauth_clients IS 'Apps that registered by themselves (RFC 7591), as anybody may. Unused ones are deleted.';
COMMENT ON COLUMN private.oauth_clients.used_at IS 'When a user last consented; null: never.';

CREATE TABLE private.oauth_grants (
    id              uuid DEFAULT gen_random_uuid() CONSTRAINT oauth_grants_pkey PRIMARY KEY,
    user_id         uuid NOT NULL CONSTRAINT oauth_grants_user_id_fkey REFERENCES private.users ON DELETE CASCADE,
    organization_id uuid NOT NULL CONSTRAINT oauth_grants_organization_id_fkey REFERENCES public.organizations ON DELETE CASCADE,
    client_id       text NOT NULL CONSTRAINT oauth_grants_client_id_length CHECK (char_length(client_id) BETWEEN 1 AND 2048),
    client_name     text NOT NULL CONSTRAINT oauth_grants_client_name_form CHECK (private.is_name(client_name)),
    redirect_uri    text NOT NULL CONSTRAINT oauth_grants_redirect_uri_length CHECK (char_length(redirect_uri) BETWEEN 1 AND 2048),
    scopes          text[] NOT NULL CONSTRAINT oauth_grants_scopes_are_words CHECK (private.are_words(scopes)),
    challenge       text NOT NULL CONSTRAINT oauth_grants_challenge_length CHECK (char_length(challenge) = 43),
    code_hash       bytea NOT NULL CONSTRAINT oauth_grants_code_hash_key UNIQUE
                          CONSTRAINT oauth_grants_code_hash_length CHECK (octet_length(code_hash) = 32),
    created_at      timestamptz NOT NULL DEFAULT now(),
    used_at         timestamptz
);
CREATE INDEX oauth_grants_user_id_idx ON private.oauth_grants (user_id);
CREATE INDEX oauth_grants_organization_id_idx ON private.oauth_grants (organization_id);
CREATE INDEX oauth_grants_client_id_idx ON private.oauth_grants (client_id);
COMMENT ON TABLE private.oauth_grants IS 'What a user lets an app do. It begins with a code, which works once and for 60 seconds; its access tokens name it, and are refused once it is deleted.';
COMMENT ON COLUMN private.oauth_grants.client_id IS 'The id of a registered app, or the address of its metadata document.';
COMMENT ON COLUMN private.oauth_grants.challenge IS 'SHA-256 of the code''s verifier in base64url (RFC 7636, S256).';
COMMENT ON COLUMN private.oauth_grants.code_hash IS 'SHA-256 of the code. It stays, so that a second use is recognized.';
COMMENT ON COLUMN private.oauth_grants.used_at IS 'When it last got tokens, which keeps it for 30 days; null: its code was not used.';

CREATE TABLE private.oauth_refresh_tokens (
    hash       bytea CONSTRAINT oauth_refresh_tokens_pkey PRIMARY KEY CONSTRAINT oauth_refresh_tokens_hash_length CHECK (octet_length(hash) = 32),
    grant_id   uuid NOT NULL CONSTRAINT oauth_refresh_tokens_grant_id_fkey REFERENCES private.oauth_grants ON DELETE CASCADE,
    created_at timestamptz NOT NULL DEFAULT now(),
    used_at    timestamptz
);
CREATE INDEX oauth_refresh_tokens_grant_id_idx ON private.oauth_refresh_tokens (grant_id);
COMMENT ON TABLE private.oauth_refresh_tokens IS 'What gets a grant its next access token, each once. A second use deletes the grant.';
COMMENT ON COLUMN private.oauth_refresh_tokens.hash IS 'SHA-256 of the token.';
COMMENT ON COLUMN private.oauth_refresh_tokens.used_at IS 'Null: it is the newest of its grant.';

CREATE FUNCTION private.log_oauth_grant() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $$
BEGIN
    PERFORM private.log_audit(CASE TG_OP WHEN 'DELETE' THEN 'app disconnected' ELSE 'app connected' END, OLD.organization_id,
        OLD.client_name, jsonb_build_object('client_id', OLD.client_id, 'redirect_uri', OLD.redirect_uri, 'scopes', OLD.scopes));
    RETURN NULL;
END
$$;
CREATE TRIGGER log_audit AFTER UPDATE OF used_at ON private.oauth_grants
    FOR EACH ROW WHEN (OLD.used_at IS NULL AND NEW.used_at IS NOT NULL) EXECUTE FUNCTION private.log_oauth_grant();
CREATE TRIGGER log_audit_deleted AFTER DELETE ON private.oauth_grants -- not when it has expired
    FOR EACH ROW WHEN (OLD.used_at > now() - INTERVAL '30 days') EXECUTE FUNCTION private.log_oauth_grant();
CREATE TRIGGER limit_rows BEFORE INSERT ON private.oauth_grants
    FOR EACH ROW EXECUTE FUNCTION private.limit_rows(50, 'a user has at most 50 connected apps: end one first, in Organization',
        'r.user_id = ($1).user_id AND coalesce(r.used_at + INTERVAL ''30 days'', r.created_at + INTERVAL ''1 minute'') > now()');

-- A user who leaves an organization loses their sessions, keys and apps, which must not work again on their return.
CREATE OR REPLACE FUNCTION private.end_access() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $$
BEGIN
    UPDATE private.sessions SET revoked_at = now() WHERE user_id = OLD.user_id AND revoked_at IS NULL;
    UPDATE public.api_keys SET revoked_at = now() WHERE user_id = OLD.user_id AND revoked_at IS NULL;
    DELETE FROM private.oauth_grants WHERE user_id = OLD.user_id;
    RETURN NULL;
END
$$;

CALL private.protect('private.oauth_clients');

CALL private.protect('private.oauth_grants');

CALL private.protect('private.oauth_refresh_tokens');
