-- Shares of an account's limits that processes hold, so that together they keep within the limits.
CREATE TABLE private.platform_leases (
    account                 text CONSTRAINT platform_leases_account_length CHECK (octet_length(account) BETWEEN 1 AND 200),
    holder                  uuid,
    in_flight               int NOT NULL,
    requests_per_minute     float8 NOT NULL,
    tokens_per_minute       float8 NOT NULL,
    max_in_flight           int NOT NULL,
    max_requests_per_minute float8 NOT NULL,
    max_tokens_per_minute   float8 NOT NULL,
    expires_at              timestamptz NOT NULL,
    CONSTRAINT platform_leases_pkey PRIMARY KEY (account, holder)
);
COMMENT ON TABLE private.platform_leases IS 'Shares of the limits of accounts at platforms that processes hold.';
COMMENT ON COLUMN private.platform_leases.account IS 'The platform, and a short digest of the key, from which the key cannot be computed.';
COMMENT ON COLUMN private.platform_leases.max_in_flight IS 'With the other two, the limits of the account as the holder knows them: those of the organizations that it asks for.';

CALL private.protect('private.platform_leases');

-- What processes have learnt of accounts from the platforms' answers, so that it outlives them.
CREATE TABLE private.platform_accounts (
    account             text CONSTRAINT platform_accounts_pkey PRIMARY KEY
                             CONSTRAINT platform_accounts_account_length CHECK (octet_length(account) BETWEEN 1 AND 200),
    requests_per_minute int NOT NULL,
    tokens_per_minute   int NOT NULL,
    tokens_per_answer   float8 NOT NULL,
    closed_until        timestamptz NOT NULL
);
COMMENT ON TABLE private.platform_accounts IS 'What is learnt of accounts at platforms from their answers; 0 is nothing.';
COMMENT ON COLUMN private.platform_accounts.tokens_per_answer IS 'The average of the last answers, which a request reserves.';
COMMENT ON COLUMN private.platform_accounts.closed_until IS 'Before, the platform takes no requests of the account.';

CALL private.protect('private.platform_accounts');

-- Processes that work on tracking jobs, so that no job is started that they cannot ask.
CREATE TABLE private.tracking_workers (
    id         uuid CONSTRAINT tracking_workers_pkey PRIMARY KEY,
    platforms  text[] NOT NULL CONSTRAINT tracking_workers_platforms_are_words CHECK (private.are_words(platforms)),
    expires_at timestamptz NOT NULL
);
COMMENT ON TABLE private.tracking_workers IS 'Processes that work on tracking jobs.';
COMMENT ON COLUMN private.tracking_workers.platforms IS 'Those whose keys are in the process''s environment.';

CALL private.protect('private.tracking_workers');
