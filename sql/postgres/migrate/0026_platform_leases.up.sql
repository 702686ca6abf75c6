-- Shares of an account's limits that processes hold, so that together they keep within the limits.
CREATE TABLE private.platform_leases (
    account    text CONSTRAINT platform_leases_account_length CHECK (octet_length(account) BETWEEN 1 AND 200),
    holder     uuid,
    in_flight  int NOT NULL,
    per_minute float8 NOT NULL,
    expires_at timestamptz NOT NULL,
    CONSTRAINT platform_leases_pkey PRIMARY KEY (account, holder)
);
COMMENT ON TABLE private.platform_leases IS 'Shares of the limits of accounts at platforms that processes hold.';
COMMENT ON COLUMN private.platform_leases.account IS 'The platform, and a short digest of the key, from which the key cannot be computed.';

CALL private.protect('private.platform_leases');

-- Processes that work on tracking jobs, so that no job is started that they cannot ask.
CREATE TABLE private.tracking_workers (
    id         uuid CONSTRAINT tracking_workers_pkey PRIMARY KEY,
    platforms  text[] NOT NULL CONSTRAINT tracking_workers_platforms_are_words CHECK (private.are_words(platforms)),
    expires_at timestamptz NOT NULL
);
COMMENT ON TABLE private.tracking_workers IS 'Processes that work on tracking jobs.';
COMMENT ON COLUMN private.tracking_workers.platforms IS 'Those whose keys are in the process''s environment.';

CALL private.protect('private.tracking_workers');
