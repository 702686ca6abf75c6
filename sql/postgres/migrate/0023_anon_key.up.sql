-- The key that clients of /rest/v1 send beside their token. It is public: it names the project, and a client with this
-- key alone is anonymous. All processes share it.
CREATE TABLE private.anon_key (
    is_only     bool DEFAULT true CONSTRAINT anon_key_pkey PRIMARY KEY CONSTRAINT anon_key_is_only CHECK (is_only),
    key         text NOT NULL CONSTRAINT anon_key_key_length CHECK (char_length(key) BETWEEN 1 AND 4000),
    signing_key uuid NOT NULL,
    earlier     text[] NOT NULL DEFAULT '{}' CONSTRAINT anon_key_earlier_count CHECK (cardinality(earlier) <= 1000)
);
COMMENT ON TABLE private.anon_key IS 'The key that clients of /rest/v1 send beside their token; one row.';
COMMENT ON COLUMN private.anon_key.signing_key IS
    'The kid of key. It stays in signing_keys as long as key is used; if it is deleted, another key is made.';
COMMENT ON COLUMN private.anon_key.earlier IS 'Keys whose signing key was deleted: clients still send them, and /rest/v1 takes them.';

CALL private.protect('private.anon_key', 'SELECT, INSERT, UPDATE');
