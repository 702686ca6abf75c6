-- Users at an outside OpenID provider. A sign-in by one opens a session that ends, so that who leaves the provider's
-- directory is out within that time.
CREATE TABLE private.user_identities (
    issuer    text NOT NULL CONSTRAINT user_identities_issuer_length CHECK (char_length(issuer) BETWEEN 1 AND 2000),
    subject   text NOT NULL CONSTRAINT user_identities_subject_length CHECK (char_length(subject) BETWEEN 1 AND 2000),
    user_id   uuid NOT NULL CONSTRAINT user_identities_user_id_fkey REFERENCES private.users ON DELETE CASCADE,
    linked_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT user_identities_pkey PRIMARY KEY (issuer, subject)
);
CREATE INDEX user_identities_user_id_idx ON private.user_identities (user_id);
COMMENT ON TABLE private.user_identities IS 'Who a user is at an OpenID provider.';
COMMENT ON COLUMN private.user_identities.subject IS 'The sub of the issuer''s tokens.';

CALL private.protect('private.user_identities');

ALTER TABLE private.sessions ADD COLUMN expires_at timestamptz;
COMMENT ON COLUMN private.sessions.expires_at IS 'Null: 30 days after its last use.';
