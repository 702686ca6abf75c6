-- The random key of a day's visitor hash, which counts the visitors of a site without identifying them. All collectors
-- read the same key from here and keep it in memory only. It is made up to six hours before its day and deleted an hour
-- after it: then a hash cannot be traced to a visitor, nor into another day.
CREATE TABLE private.visitor_salts (
    day     date CONSTRAINT visitor_salts_pkey PRIMARY KEY,
    salt    bytea NOT NULL CONSTRAINT visitor_salts_salt_length CHECK (octet_length(salt) = 16),
    made_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
COMMENT ON TABLE private.visitor_salts IS 'Keys of the daily visitor hash; none is older than 48 hours.';
COMMENT ON COLUMN private.visitor_salts.day IS 'The UTC day whose visits it hashes.';

ALTER TABLE private.visitor_salts ENABLE ROW LEVEL SECURITY;
ALTER TABLE private.visitor_salts FORCE ROW LEVEL SECURITY;
CREATE POLICY service ON private.visitor_salts TO answerscope_owner, answerscope_service USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, DELETE ON private.visitor_salts TO answerscope_service;
