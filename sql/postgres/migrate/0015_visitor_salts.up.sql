-- A day's random key of the hash that tells a site's visitors apart without saying who
-- they are. All collectors take the same one from here and keep it in memory alone.
-- It is made up to six hours ahead of its day and deleted an hour after it: without it
-- nobody can tell whose a hash was, nor follow it into another day.
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
