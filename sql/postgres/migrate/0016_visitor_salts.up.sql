-- The random key of a day's visitor hash, which counts the visitors of a site without identifying them. All collectors
-- read the same key from here and keep it in memory only. It is made up to six hours before its day and forgotten an
-- hour after it: then a hash cannot be traced to a visitor, nor into another day.
--
-- Forgotten means that no file contains it. The table is unlogged: its rows are in no write-ahead log, so in no archive
-- of it, no base backup and no standby. ANALYZE would copy keys into pg_statistic, which is logged: statistics are off.
-- A deleted row stays in its page: the table gets a new file instead (query/drop_salts.sql). A crash of the server
-- empties the table; the rest of that day has another key.
CREATE UNLOGGED TABLE private.visitor_salts (
    day     date CONSTRAINT visitor_salts_pkey PRIMARY KEY,
    salt    bytea NOT NULL CONSTRAINT visitor_salts_salt_length CHECK (octet_length(salt) = 16),
    made_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
COMMENT ON TABLE private.visitor_salts IS 'Keys of the daily visitor hash; none is older than 48 hours.';
COMMENT ON COLUMN private.visitor_salts.day IS 'The UTC day whose visits it hashes.';
ALTER TABLE private.visitor_salts ALTER COLUMN salt SET STATISTICS 0;

CALL private.protect('private.visitor_salts', 'SELECT, INSERT, TRUNCATE');
