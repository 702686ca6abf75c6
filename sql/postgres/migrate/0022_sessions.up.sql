-- Sessions of the built-in identity provider. A sign-in opens one; a session has one family of refresh tokens, of which
-- only the newest works. Reuse of an old one ends the session, and with it the family. A session of the dashboard has a
-- cookie instead.
CREATE TABLE private.sessions (
    id           uuid DEFAULT gen_random_uuid() CONSTRAINT sessions_pkey PRIMARY KEY,
    user_id      uuid NOT NULL CONSTRAINT sessions_user_id_fkey REFERENCES private.users ON DELETE CASCADE,
    created_at   timestamptz NOT NULL DEFAULT now(),
    refreshed_at timestamptz NOT NULL DEFAULT now(),
    revoked_at   timestamptz,
    cookie_hash  bytea CONSTRAINT sessions_cookie_hash_key UNIQUE
                       CONSTRAINT sessions_cookie_hash_length CHECK (octet_length(cookie_hash) = 32)
);
CREATE INDEX sessions_user_id_idx ON private.sessions (user_id);
COMMENT ON TABLE private.sessions IS 'Who is signed in. Access tokens name their session, and are refused once it is revoked.';
COMMENT ON COLUMN private.sessions.refreshed_at IS
    'Of the newest refresh token, or to the hour of the last use of the cookie: both work for 30 days.';
COMMENT ON COLUMN private.sessions.cookie_hash IS 'SHA-256 of the cookie of a session of the dashboard; null: of another one.';

CREATE TABLE private.refresh_tokens (
    hash       bytea CONSTRAINT refresh_tokens_pkey PRIMARY KEY CONSTRAINT refresh_tokens_hash_length CHECK (octet_length(hash) = 32),
    session_id uuid NOT NULL CONSTRAINT refresh_tokens_session_id_fkey REFERENCES private.sessions ON DELETE CASCADE,
    created_at timestamptz NOT NULL DEFAULT now(),
    used_at    timestamptz
);
CREATE INDEX refresh_tokens_session_id_idx ON private.refresh_tokens (session_id);
COMMENT ON TABLE private.refresh_tokens IS 'What gets a session its next access token, each once.';
COMMENT ON COLUMN private.refresh_tokens.hash IS 'SHA-256 of the token.';
COMMENT ON COLUMN private.refresh_tokens.used_at IS 'Null: it is the newest of its session.';

CREATE TABLE private.signing_keys (
    id          uuid CONSTRAINT signing_keys_pkey PRIMARY KEY,
    public_key  bytea NOT NULL,
    private_key text NOT NULL CONSTRAINT signing_keys_private_key_length CHECK (char_length(private_key) BETWEEN 1 AND 2000),
    created_at  timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE private.signing_keys IS 'What signs access tokens (ES256). The newest signs, for 90 days; all verify.';
COMMENT ON COLUMN private.signing_keys.id IS 'The kid of its tokens.';
COMMENT ON COLUMN private.signing_keys.public_key IS 'PKIX, DER.';
COMMENT ON COLUMN private.signing_keys.private_key IS 'SEC 1, DER, encrypted with a key of ANSWERSCOPE_SECRET_KEYS, whose id it begins with.';

-- A user who leaves an organization loses their sessions and keys, which must not work again on their return.
CREATE FUNCTION private.end_access() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $$
BEGIN
    UPDATE private.sessions SET revoked_at = now() WHERE user_id = OLD.user_id AND revoked_at IS NULL;
    UPDATE public.api_keys SET revoked_at = now() WHERE user_id = OLD.user_id AND revoked_at IS NULL;
    RETURN NULL;
END
$$;

CREATE TRIGGER end_access AFTER DELETE ON public.members
    FOR EACH ROW EXECUTE FUNCTION private.end_access();

CALL private.protect('private.sessions');

CALL private.protect('private.refresh_tokens');

CALL private.protect('private.signing_keys');
