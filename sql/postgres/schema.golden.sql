-- anon
CREATE ROLE anon NOLOGIN NOINHERIT;

-- answerscope_owner
CREATE ROLE answerscope_owner NOLOGIN NOINHERIT;

-- answerscope_service
CREATE ROLE answerscope_service NOLOGIN NOINHERIT;

-- authenticated
CREATE ROLE authenticated NOLOGIN NOINHERIT;

-- authenticator
CREATE ROLE authenticator LOGIN NOINHERIT;
GRANT anon TO authenticator;
GRANT authenticated TO authenticator;

-- schema private
ALTER SCHEMA private OWNER TO answerscope_owner;
CREATE EXTENSION citext WITH SCHEMA private;
GRANT USAGE ON SCHEMA private TO answerscope_service;
-- default of answerscope_owner for new functions: {answerscope_owner=X/answerscope_owner}

-- schema public
ALTER SCHEMA public OWNER TO pg_database_owner;
GRANT USAGE ON SCHEMA public TO PUBLIC;
GRANT USAGE ON SCHEMA public TO anon;
GRANT CREATE, USAGE ON SCHEMA public TO answerscope_owner;
GRANT USAGE ON SCHEMA public TO answerscope_service;
GRANT USAGE ON SCHEMA public TO authenticated;

-- table private.advice_runs
CREATE TABLE private.advice_runs (
    brand_id uuid NOT NULL,
    organization_id uuid NOT NULL,
    inputs jsonb NOT NULL,
    rules_version integer NOT NULL,
    date_from date NOT NULL,
    date_to date NOT NULL,
    totals jsonb NOT NULL,
    reasons jsonb NOT NULL,
    computed_at timestamp with time zone NOT NULL,
    CONSTRAINT advice_runs_pkey PRIMARY KEY (brand_id),
    CONSTRAINT advice_runs_brand_id_fkey FOREIGN KEY (brand_id) REFERENCES brands(id) ON DELETE CASCADE,
    CONSTRAINT advice_runs_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON DELETE CASCADE
);
ALTER TABLE private.advice_runs OWNER TO answerscope_owner;
CREATE INDEX advice_runs_organization_id_idx ON private.advice_runs USING btree (organization_id);
COMMENT ON TABLE private.advice_runs IS 'The last computation of each brand''s suggestions.';
COMMENT ON COLUMN private.advice_runs.inputs IS 'What it depends on beside the window; when that differs the brand is computed again.';
COMMENT ON COLUMN private.advice_runs.totals IS 'By kind: how many there were, are stored, were tried, and are expected by chance.';
COMMENT ON COLUMN private.advice_runs.reasons IS 'Why a kind has none, or may lack some.';
ALTER TABLE private.advice_runs ENABLE ROW LEVEL SECURITY;
ALTER TABLE private.advice_runs FORCE ROW LEVEL SECURITY;
CREATE POLICY service ON private.advice_runs FOR ALL TO answerscope_owner, answerscope_service USING (true) WITH CHECK (true);
GRANT INSERT, SELECT, UPDATE ON private.advice_runs TO answerscope_service;

-- table private.anon_key
CREATE TABLE private.anon_key (
    is_only boolean NOT NULL DEFAULT true,
    key text NOT NULL,
    signing_key uuid NOT NULL,
    earlier text[] NOT NULL DEFAULT '{}'::text[],
    CONSTRAINT anon_key_pkey PRIMARY KEY (is_only),
    CONSTRAINT anon_key_earlier_count CHECK ((cardinality(earlier) <= 1000)),
    CONSTRAINT anon_key_is_only CHECK (is_only),
    CONSTRAINT anon_key_key_length CHECK (((char_length(key) >= 1) AND (char_length(key) <= 4000)))
);
ALTER TABLE private.anon_key OWNER TO answerscope_owner;
COMMENT ON TABLE private.anon_key IS 'The key that clients of /rest/v1 send beside their token; one row.';
COMMENT ON COLUMN private.anon_key.signing_key IS 'The kid of key. It stays in signing_keys as long as key is used; if it is deleted, another key is made.';
COMMENT ON COLUMN private.anon_key.earlier IS 'Keys whose signing key was deleted: clients still send them, and /rest/v1 takes them.';
ALTER TABLE private.anon_key ENABLE ROW LEVEL SECURITY;
ALTER TABLE private.anon_key FORCE ROW LEVEL SECURITY;
CREATE POLICY service ON private.anon_key FOR ALL TO answerscope_owner, answerscope_service USING (true) WITH CHECK (true);
GRANT INSERT, SELECT, UPDATE ON private.anon_key TO answerscope_service;

-- table private.api_key_hashes
CREATE TABLE private.api_key_hashes (
    api_key_id uuid NOT NULL,
    hash bytea NOT NULL,
    CONSTRAINT api_key_hashes_pkey PRIMARY KEY (api_key_id),
    CONSTRAINT api_key_hashes_hash_key UNIQUE (hash),
    CONSTRAINT api_key_hashes_api_key_id_fkey FOREIGN KEY (api_key_id) REFERENCES api_keys(id) ON DELETE CASCADE,
    CONSTRAINT api_key_hashes_hash_length CHECK ((octet_length(hash) = 32))
);
ALTER TABLE private.api_key_hashes OWNER TO answerscope_owner;
COMMENT ON TABLE private.api_key_hashes IS 'What keys are found by. A table of its own, so that clients may read every column of api_keys.';
COMMENT ON COLUMN private.api_key_hashes.hash IS 'SHA-256 of the key.';
ALTER TABLE private.api_key_hashes ENABLE ROW LEVEL SECURITY;
ALTER TABLE private.api_key_hashes FORCE ROW LEVEL SECURITY;
CREATE POLICY service ON private.api_key_hashes FOR ALL TO answerscope_owner, answerscope_service USING (true) WITH CHECK (true);
GRANT INSERT, SELECT ON private.api_key_hashes TO answerscope_service;

-- table private.audit_origins
CREATE TABLE private.audit_origins (
    audit_id uuid NOT NULL,
    actor text NOT NULL,
    address inet DEFAULT inet_client_addr(),
    CONSTRAINT audit_origins_pkey PRIMARY KEY (audit_id),
    CONSTRAINT audit_origins_audit_id_fkey FOREIGN KEY (audit_id) REFERENCES audit_log(id) ON DELETE CASCADE,
    CONSTRAINT audit_origins_actor_length CHECK ((char_length(actor) <= 1000))
);
ALTER TABLE private.audit_origins OWNER TO answerscope_owner;
COMMENT ON TABLE private.audit_origins IS 'Where the changes of the audit log came from.';
COMMENT ON COLUMN private.audit_origins.actor IS 'The user of a token, through the system''s user, host and command, or the login.';
COMMENT ON COLUMN private.audit_origins.address IS 'Where the connection came from; null: from a local socket.';
ALTER TABLE private.audit_origins ENABLE ROW LEVEL SECURITY;
ALTER TABLE private.audit_origins FORCE ROW LEVEL SECURITY;
CREATE POLICY service ON private.audit_origins FOR ALL TO answerscope_owner, answerscope_service USING (true) WITH CHECK (true);
GRANT SELECT ON private.audit_origins TO answerscope_service;

-- table private.batches
CREATE TABLE private.batches (
    topic text NOT NULL,
    brand_id uuid NOT NULL,
    partition integer NOT NULL,
    started bigint NOT NULL,
    settled bigint NOT NULL DEFAULT 0,
    CONSTRAINT batches_pkey PRIMARY KEY (topic, brand_id, partition),
    CONSTRAINT batches_topic_check CHECK ((topic = ANY (ARRAY['answers'::text, 'visits'::text, 'crawls'::text])))
);
ALTER TABLE private.batches OWNER TO answerscope_owner;
COMMENT ON TABLE private.batches IS 'Of each partition the batch that last began to land, and the one that has landed. Where they differ, a batch is under way, or its process died and another will land it.';
ALTER TABLE private.batches ENABLE ROW LEVEL SECURITY;
ALTER TABLE private.batches FORCE ROW LEVEL SECURITY;
CREATE POLICY service ON private.batches FOR ALL TO answerscope_owner, answerscope_service USING (true) WITH CHECK (true);
GRANT INSERT, SELECT, UPDATE ON private.batches TO answerscope_service;

-- table private.budgets
CREATE TABLE private.budgets (
    organization_id uuid NOT NULL,
    platform text NOT NULL,
    runs_per_day bigint,
    runs_per_month bigint,
    cost_per_day numeric,
    cost_per_month numeric,
    by_operator boolean NOT NULL DEFAULT false,
    CONSTRAINT budgets_pkey PRIMARY KEY (organization_id, platform, by_operator),
    CONSTRAINT budgets_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON DELETE CASCADE,
    CONSTRAINT budgets_cost_per_day_is_positive CHECK ((cost_per_day >= (0)::numeric)),
    CONSTRAINT budgets_cost_per_month_is_positive CHECK ((cost_per_month >= (0)::numeric)),
    CONSTRAINT budgets_platform_length CHECK ((octet_length(platform) <= 200)),
    CONSTRAINT budgets_runs_per_day_is_positive CHECK ((runs_per_day >= 0)),
    CONSTRAINT budgets_runs_per_month_is_positive CHECK ((runs_per_month >= 0))
);
ALTER TABLE private.budgets OWNER TO answerscope_owner;
COMMENT ON TABLE private.budgets IS 'Limits of an organization''s spending on tracking, by day and month in UTC.';
COMMENT ON COLUMN private.budgets.platform IS 'Empty: all platforms together.';
COMMENT ON COLUMN private.budgets.cost_per_day IS 'In US dollars.';
COMMENT ON COLUMN private.budgets.by_operator IS 'Set on the command line: owners cannot change it.';
CREATE TRIGGER log_audit AFTER INSERT OR UPDATE ON private.budgets FOR EACH ROW EXECUTE FUNCTION private.log_budget();
ALTER TABLE private.budgets ENABLE ROW LEVEL SECURITY;
ALTER TABLE private.budgets FORCE ROW LEVEL SECURITY;
CREATE POLICY service ON private.budgets FOR ALL TO answerscope_owner, answerscope_service USING (true) WITH CHECK (true);
GRANT DELETE, INSERT, SELECT, UPDATE ON private.budgets TO answerscope_service;

-- table private.cron_events
CREATE TABLE private.cron_events (
    event_id text NOT NULL,
    ran_at timestamp with time zone NOT NULL DEFAULT now(),
    CONSTRAINT cron_events_pkey PRIMARY KEY (event_id),
    CONSTRAINT cron_events_event_id_length CHECK ((octet_length(event_id) <= 255))
);
ALTER TABLE private.cron_events OWNER TO answerscope_owner;
COMMENT ON TABLE private.cron_events IS 'Events, such as of a payment provider, that have started what was due: each does so once.';
ALTER TABLE private.cron_events ENABLE ROW LEVEL SECURITY;
ALTER TABLE private.cron_events FORCE ROW LEVEL SECURITY;
CREATE POLICY service ON private.cron_events FOR ALL TO answerscope_owner, answerscope_service USING (true) WITH CHECK (true);
GRANT DELETE, INSERT, SELECT ON private.cron_events TO answerscope_service;

-- table private.default_checks
CREATE TABLE private.default_checks (
    brand_id uuid NOT NULL,
    last_checked_at timestamp with time zone,
    next_check_at timestamp with time zone NOT NULL,
    created_at timestamp with time zone NOT NULL DEFAULT now(),
    CONSTRAINT default_checks_pkey PRIMARY KEY (brand_id),
    CONSTRAINT default_checks_brand_id_fkey FOREIGN KEY (brand_id) REFERENCES brands(id) ON DELETE CASCADE
);
ALTER TABLE private.default_checks OWNER TO answerscope_owner;
COMMENT ON TABLE private.default_checks IS 'When brands without brand_platforms were asked on the default platforms, and are next.';
COMMENT ON COLUMN private.default_checks.last_checked_at IS 'Null: never, or no default platform can be asked.';
ALTER TABLE private.default_checks ENABLE ROW LEVEL SECURITY;
ALTER TABLE private.default_checks FORCE ROW LEVEL SECURITY;
CREATE POLICY service ON private.default_checks FOR ALL TO answerscope_owner, answerscope_service USING (true) WITH CHECK (true);
GRANT INSERT, SELECT, UPDATE ON private.default_checks TO answerscope_service;

-- table private.episodes
CREATE TABLE private.episodes (
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    organization_id uuid NOT NULL,
    brand_id uuid,
    kind text NOT NULL,
    scope text NOT NULL,
    direction text,
    reference jsonb NOT NULL DEFAULT '{}'::jsonb,
    opened_at timestamp with time zone NOT NULL DEFAULT now(),
    closed_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL DEFAULT now(),
    CONSTRAINT episodes_pkey PRIMARY KEY (id),
    CONSTRAINT episodes_brand_id_fkey FOREIGN KEY (brand_id) REFERENCES brands(id) ON DELETE CASCADE,
    CONSTRAINT episodes_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON DELETE CASCADE,
    CONSTRAINT episodes_direction_is_known CHECK ((direction = ANY (ARRAY['moved_up'::text, 'moved_down'::text]))),
    CONSTRAINT episodes_kind_is_known CHECK ((kind = ANY (ARRAY['visibility'::text, 'platform'::text]))),
    CONSTRAINT episodes_scope_length CHECK ((octet_length(scope) <= 200))
);
ALTER TABLE private.episodes OWNER TO answerscope_owner;
CREATE INDEX episodes_brand_id_idx ON private.episodes USING btree (brand_id, kind, scope);
CREATE UNIQUE INDEX episodes_open_key ON private.episodes USING btree (organization_id, brand_id, kind, scope) NULLS NOT DISTINCT WHERE (closed_at IS NULL);
CREATE INDEX episodes_organization_id_idx ON private.episodes USING btree (organization_id);
COMMENT ON TABLE private.episodes IS 'Moves of visibility and outages of platforms, from their first news until they are over.';
COMMENT ON COLUMN private.episodes.brand_id IS 'Null: a platform''s outage, which is the organization''s.';
COMMENT ON COLUMN private.episodes.scope IS 'A platform; empty: all answers of the brand.';
COMMENT ON COLUMN private.episodes.direction IS 'Of a move; null: an outage.';
COMMENT ON COLUMN private.episodes.reference IS 'Of a move: its days, and by how many points it differs from the days before.';
ALTER TABLE private.episodes ENABLE ROW LEVEL SECURITY;
ALTER TABLE private.episodes FORCE ROW LEVEL SECURITY;
CREATE POLICY service ON private.episodes FOR ALL TO answerscope_owner, answerscope_service USING (true) WITH CHECK (true);
GRANT INSERT, SELECT, UPDATE ON private.episodes TO answerscope_service;

-- table private.frozen_months
CREATE TABLE private.frozen_months (
    topic text NOT NULL,
    month date NOT NULL,
    at timestamp with time zone NOT NULL DEFAULT now(),
    CONSTRAINT frozen_months_pkey PRIMARY KEY (topic, month),
    CONSTRAINT frozen_months_month_is_first_day CHECK ((EXTRACT(day FROM month) = (1)::numeric)),
    CONSTRAINT frozen_months_topic_is_known CHECK ((topic = ANY (ARRAY['answers'::text, 'visits'::text, 'crawls'::text])))
);
ALTER TABLE private.frozen_months OWNER TO answerscope_owner;
COMMENT ON TABLE private.frozen_months IS 'Months whose raw facts expire, by topic without its prefix.';
COMMENT ON COLUMN private.frozen_months.month IS 'Its first day, UTC.';
ALTER TABLE private.frozen_months ENABLE ROW LEVEL SECURITY;
ALTER TABLE private.frozen_months FORCE ROW LEVEL SECURITY;
CREATE POLICY service ON private.frozen_months FOR ALL TO answerscope_owner, answerscope_service USING (true) WITH CHECK (true);
GRANT INSERT, SELECT ON private.frozen_months TO answerscope_service;

-- table private.judged_days
CREATE TABLE private.judged_days (
    brand_id uuid NOT NULL,
    day date NOT NULL,
    organization_id uuid NOT NULL,
    verdicts jsonb NOT NULL,
    created_at timestamp with time zone NOT NULL DEFAULT now(),
    CONSTRAINT judged_days_pkey PRIMARY KEY (brand_id, day),
    CONSTRAINT judged_days_brand_id_fkey FOREIGN KEY (brand_id) REFERENCES brands(id) ON DELETE CASCADE,
    CONSTRAINT judged_days_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON DELETE CASCADE
);
ALTER TABLE private.judged_days OWNER TO answerscope_owner;
CREATE INDEX judged_days_organization_id_idx ON private.judged_days USING btree (organization_id);
COMMENT ON TABLE private.judged_days IS 'UTC days of brands that were judged, for 90 days.';
COMMENT ON COLUMN private.judged_days.verdicts IS 'By platform; the empty one is of all answers.';
ALTER TABLE private.judged_days ENABLE ROW LEVEL SECURITY;
ALTER TABLE private.judged_days FORCE ROW LEVEL SECURITY;
CREATE POLICY service ON private.judged_days FOR ALL TO answerscope_owner, answerscope_service USING (true) WITH CHECK (true);
GRANT DELETE, INSERT, SELECT ON private.judged_days TO answerscope_service;

-- table private.mails
CREATE TABLE private.mails (
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    organization_id uuid NOT NULL,
    event_id uuid,
    subscription_id uuid,
    template text NOT NULL,
    recipient private.citext NOT NULL,
    sealed text,
    status text NOT NULL DEFAULT 'pending'::text,
    attempts integer NOT NULL DEFAULT 0,
    next_attempt_at timestamp with time zone NOT NULL DEFAULT now(),
    leased_until timestamp with time zone,
    holder uuid,
    response_status integer,
    duration_ms integer,
    error text,
    delivered_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL DEFAULT now(),
    CONSTRAINT mails_pkey PRIMARY KEY (id),
    CONSTRAINT mails_event_id_recipient_key UNIQUE (event_id, recipient),
    CONSTRAINT mails_event_id_fkey FOREIGN KEY (event_id) REFERENCES events(id) ON DELETE CASCADE,
    CONSTRAINT mails_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON DELETE CASCADE,
    CONSTRAINT mails_subscription_id_fkey FOREIGN KEY (subscription_id) REFERENCES subscriptions(id) ON DELETE CASCADE,
    CONSTRAINT mails_error_length CHECK ((char_length(error) <= 200)),
    CONSTRAINT mails_recipient_length CHECK ((octet_length((recipient)::text) <= 320)),
    CONSTRAINT mails_sealed_length CHECK ((char_length(sealed) <= 4000)),
    CONSTRAINT mails_status_is_known CHECK ((status = ANY (ARRAY['pending'::text, 'delivered'::text, 'failed'::text, 'cancelled'::text]))),
    CONSTRAINT mails_template_length CHECK ((octet_length(template) <= 200))
);
ALTER TABLE private.mails OWNER TO answerscope_owner;
CREATE INDEX mails_due_idx ON private.mails USING btree (((sealed IS NULL)), next_attempt_at) WHERE (status = 'pending'::text);
CREATE INDEX mails_organization_id_idx ON private.mails USING btree (organization_id);
CREATE INDEX mails_subscription_id_idx ON private.mails USING btree (subscription_id, created_at DESC);
COMMENT ON TABLE private.mails IS 'Mails, for 90 days.';
COMMENT ON COLUMN private.mails.template IS 'The type of its event, or confirm, invitation, reset, password_changed.';
COMMENT ON COLUMN private.mails.sealed IS 'What its template needs and nobody may read, such as a link; cleared when it ends.';
COMMENT ON COLUMN private.mails.response_status IS 'The code of the mail server''s last reply.';
ALTER TABLE private.mails ENABLE ROW LEVEL SECURITY;
ALTER TABLE private.mails FORCE ROW LEVEL SECURITY;
CREATE POLICY service ON private.mails FOR ALL TO answerscope_owner, answerscope_service USING (true) WITH CHECK (true);
GRANT DELETE, INSERT, SELECT, UPDATE ON private.mails TO answerscope_service;

-- table private.oauth_clients
CREATE TABLE private.oauth_clients (
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    name text NOT NULL,
    redirect_uris text[] NOT NULL,
    created_at timestamp with time zone NOT NULL DEFAULT now(),
    used_at timestamp with time zone,
    CONSTRAINT oauth_clients_pkey PRIMARY KEY (id),
    CONSTRAINT oauth_clients_name_form CHECK (private.is_name(name)),
    CONSTRAINT oauth_clients_redirect_uris_count CHECK (((cardinality(redirect_uris) >= 1) AND (cardinality(redirect_uris) <= 10)))
);
ALTER TABLE private.oauth_clients OWNER TO answerscope_owner;
CREATE INDEX oauth_clients_created_at_idx ON private.oauth_clients USING btree (created_at DESC);
COMMENT ON TABLE private.oauth_clients IS 'Apps that registered by themselves (RFC 7591), as anybody may. Unused ones are deleted.';
COMMENT ON COLUMN private.oauth_clients.used_at IS 'When a user last consented; null: never.';
ALTER TABLE private.oauth_clients ENABLE ROW LEVEL SECURITY;
ALTER TABLE private.oauth_clients FORCE ROW LEVEL SECURITY;
CREATE POLICY service ON private.oauth_clients FOR ALL TO answerscope_owner, answerscope_service USING (true) WITH CHECK (true);
GRANT DELETE, INSERT, SELECT, UPDATE ON private.oauth_clients TO answerscope_service;

-- table private.oauth_grants
CREATE TABLE private.oauth_grants (
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    user_id uuid NOT NULL,
    organization_id uuid NOT NULL,
    client_id text NOT NULL,
    client_name text NOT NULL,
    redirect_uri text NOT NULL,
    scopes text[] NOT NULL,
    challenge text NOT NULL,
    code_hash bytea NOT NULL,
    created_at timestamp with time zone NOT NULL DEFAULT now(),
    used_at timestamp with time zone,
    CONSTRAINT oauth_grants_pkey PRIMARY KEY (id),
    CONSTRAINT oauth_grants_code_hash_key UNIQUE (code_hash),
    CONSTRAINT oauth_grants_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON DELETE CASCADE,
    CONSTRAINT oauth_grants_user_id_fkey FOREIGN KEY (user_id) REFERENCES private.users(id) ON DELETE CASCADE,
    CONSTRAINT oauth_grants_challenge_length CHECK ((char_length(challenge) = 43)),
    CONSTRAINT oauth_grants_client_id_length CHECK (((char_length(client_id) >= 1) AND (char_length(client_id) <= 2048))),
    CONSTRAINT oauth_grants_client_name_form CHECK (private.is_name(client_name)),
    CONSTRAINT oauth_grants_code_hash_length CHECK ((octet_length(code_hash) = 32)),
    CONSTRAINT oauth_grants_redirect_uri_length CHECK (((char_length(redirect_uri) >= 1) AND (char_length(redirect_uri) <= 2048))),
    CONSTRAINT oauth_grants_scopes_are_words CHECK (private.are_words(scopes))
);
ALTER TABLE private.oauth_grants OWNER TO answerscope_owner;
CREATE INDEX oauth_grants_client_id_idx ON private.oauth_grants USING btree (client_id);
CREATE INDEX oauth_grants_organization_id_idx ON private.oauth_grants USING btree (organization_id);
CREATE INDEX oauth_grants_user_id_idx ON private.oauth_grants USING btree (user_id);
COMMENT ON TABLE private.oauth_grants IS 'What a user lets an app do. It begins with a code, which works once and for 60 seconds; its access tokens name it, and are refused once it is deleted.';
COMMENT ON COLUMN private.oauth_grants.client_id IS 'The id of a registered app, or the address of its metadata document.';
COMMENT ON COLUMN private.oauth_grants.challenge IS 'SHA-256 of the code''s verifier in base64url (RFC 7636, S256).';
COMMENT ON COLUMN private.oauth_grants.code_hash IS 'SHA-256 of the code. It stays, so that a second use is recognized.';
COMMENT ON COLUMN private.oauth_grants.used_at IS 'When it last got tokens, which keeps it for 30 days; null: its code was not used.';
CREATE TRIGGER limit_rows BEFORE INSERT ON private.oauth_grants FOR EACH ROW EXECUTE FUNCTION private.limit_rows('50', 'a user has at most 50 connected apps: end one first, in Organization', 'r.user_id = ($1).user_id AND coalesce(r.used_at + INTERVAL ''30 days'', r.created_at + INTERVAL ''1 minute'') > now()');
CREATE TRIGGER log_audit AFTER UPDATE OF used_at ON private.oauth_grants FOR EACH ROW WHEN (((old.used_at IS NULL) AND (new.used_at IS NOT NULL))) EXECUTE FUNCTION private.log_oauth_grant();
CREATE TRIGGER log_audit_deleted AFTER DELETE ON private.oauth_grants FOR EACH ROW WHEN ((old.used_at > (now() - '30 days'::interval))) EXECUTE FUNCTION private.log_oauth_grant();
ALTER TABLE private.oauth_grants ENABLE ROW LEVEL SECURITY;
ALTER TABLE private.oauth_grants FORCE ROW LEVEL SECURITY;
CREATE POLICY service ON private.oauth_grants FOR ALL TO answerscope_owner, answerscope_service USING (true) WITH CHECK (true);
GRANT DELETE, INSERT, SELECT, UPDATE ON private.oauth_grants TO answerscope_service;

-- table private.oauth_refresh_tokens
CREATE TABLE private.oauth_refresh_tokens (
    hash bytea NOT NULL,
    grant_id uuid NOT NULL,
    created_at timestamp with time zone NOT NULL DEFAULT now(),
    used_at timestamp with time zone,
    CONSTRAINT oauth_refresh_tokens_pkey PRIMARY KEY (hash),
    CONSTRAINT oauth_refresh_tokens_grant_id_fkey FOREIGN KEY (grant_id) REFERENCES private.oauth_grants(id) ON DELETE CASCADE,
    CONSTRAINT oauth_refresh_tokens_hash_length CHECK ((octet_length(hash) = 32))
);
ALTER TABLE private.oauth_refresh_tokens OWNER TO answerscope_owner;
CREATE INDEX oauth_refresh_tokens_grant_id_idx ON private.oauth_refresh_tokens USING btree (grant_id);
COMMENT ON TABLE private.oauth_refresh_tokens IS 'What gets a grant its next access token, each once. A second use deletes the grant.';
COMMENT ON COLUMN private.oauth_refresh_tokens.hash IS 'SHA-256 of the token.';
COMMENT ON COLUMN private.oauth_refresh_tokens.used_at IS 'Null: it is the newest of its grant.';
ALTER TABLE private.oauth_refresh_tokens ENABLE ROW LEVEL SECURITY;
ALTER TABLE private.oauth_refresh_tokens FORCE ROW LEVEL SECURITY;
CREATE POLICY service ON private.oauth_refresh_tokens FOR ALL TO answerscope_owner, answerscope_service USING (true) WITH CHECK (true);
GRANT DELETE, INSERT, SELECT, UPDATE ON private.oauth_refresh_tokens TO answerscope_service;

-- table private.one_time_links
CREATE TABLE private.one_time_links (
    hash bytea NOT NULL,
    organization_id uuid NOT NULL,
    kind text NOT NULL,
    subject uuid NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    used_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL DEFAULT now(),
    is_shown boolean NOT NULL DEFAULT false,
    CONSTRAINT one_time_links_pkey PRIMARY KEY (hash),
    CONSTRAINT one_time_links_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON DELETE CASCADE,
    CONSTRAINT one_time_links_hash_length CHECK ((octet_length(hash) = 32)),
    CONSTRAINT one_time_links_kind_is_known CHECK ((kind = ANY (ARRAY['invitation'::text, 'password_reset'::text, 'confirmation'::text])))
);
ALTER TABLE private.one_time_links OWNER TO answerscope_owner;
CREATE INDEX one_time_links_organization_id_idx ON private.one_time_links USING btree (organization_id);
CREATE INDEX one_time_links_subject_idx ON private.one_time_links USING btree (subject);
COMMENT ON TABLE private.one_time_links IS 'Links that work once.';
COMMENT ON COLUMN private.one_time_links.hash IS 'SHA-256 of the token in the link.';
COMMENT ON COLUMN private.one_time_links.subject IS 'The invitation, the user, or the subscription.';
COMMENT ON COLUMN private.one_time_links.is_shown IS 'No mail had it: who made it has seen it.';
CREATE TRIGGER limit_rows BEFORE INSERT ON private.one_time_links FOR EACH ROW WHEN ((new.kind <> 'password_reset'::text)) EXECUTE FUNCTION private.limit_rows('20', 'at most 20 new addresses an hour: try again later', 'r.organization_id = ($1).organization_id AND r.kind = ($1).kind AND r.created_at > now() - INTERVAL ''1 hour''', 'AS429');
ALTER TABLE private.one_time_links ENABLE ROW LEVEL SECURITY;
ALTER TABLE private.one_time_links FORCE ROW LEVEL SECURITY;
CREATE POLICY service ON private.one_time_links FOR ALL TO answerscope_owner, answerscope_service USING (true) WITH CHECK (true);
GRANT DELETE, INSERT, SELECT, UPDATE ON private.one_time_links TO answerscope_service;

-- table private.outbox
CREATE TABLE private.outbox (
    id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    kind text NOT NULL,
    row_id uuid NOT NULL,
    organization_id uuid NOT NULL,
    brand_id uuid NOT NULL,
    payload jsonb NOT NULL,
    deleted boolean NOT NULL,
    at timestamp with time zone NOT NULL DEFAULT now(),
    CONSTRAINT outbox_pkey PRIMARY KEY (id),
    CONSTRAINT outbox_kind_is_known CHECK ((kind = ANY (ARRAY['brand'::text, 'competitor'::text, 'prompt'::text, 'topic'::text])))
);
ALTER TABLE private.outbox OWNER TO answerscope_owner;
COMMENT ON TABLE private.outbox IS 'Changes that the warehouse lacks.';
COMMENT ON COLUMN private.outbox.payload IS 'The row as it is, or as it last was when deleted.';
ALTER TABLE private.outbox ENABLE ROW LEVEL SECURITY;
ALTER TABLE private.outbox FORCE ROW LEVEL SECURITY;
CREATE POLICY service ON private.outbox FOR ALL TO answerscope_owner, answerscope_service USING (true) WITH CHECK (true);
GRANT DELETE, SELECT ON private.outbox TO answerscope_service;

-- table private.platform_accounts
CREATE TABLE private.platform_accounts (
    account text NOT NULL,
    requests_per_minute integer NOT NULL,
    tokens_per_minute integer NOT NULL,
    tokens_per_answer double precision NOT NULL,
    closed_until timestamp with time zone NOT NULL,
    CONSTRAINT platform_accounts_pkey PRIMARY KEY (account),
    CONSTRAINT platform_accounts_account_length CHECK (((octet_length(account) >= 1) AND (octet_length(account) <= 200)))
);
ALTER TABLE private.platform_accounts OWNER TO answerscope_owner;
COMMENT ON TABLE private.platform_accounts IS 'What is learnt of accounts at platforms from their answers; 0 is nothing.';
COMMENT ON COLUMN private.platform_accounts.tokens_per_answer IS 'The average of the last answers, which a request reserves.';
COMMENT ON COLUMN private.platform_accounts.closed_until IS 'Before, the platform takes no requests of the account.';
ALTER TABLE private.platform_accounts ENABLE ROW LEVEL SECURITY;
ALTER TABLE private.platform_accounts FORCE ROW LEVEL SECURITY;
CREATE POLICY service ON private.platform_accounts FOR ALL TO answerscope_owner, answerscope_service USING (true) WITH CHECK (true);
GRANT DELETE, INSERT, SELECT, UPDATE ON private.platform_accounts TO answerscope_service;

-- table private.platform_changes
CREATE TABLE private.platform_changes (
    platform text NOT NULL,
    day date NOT NULL,
    e_value double precision NOT NULL,
    judged_on date NOT NULL,
    CONSTRAINT platform_changes_pkey PRIMARY KEY (platform, day),
    CONSTRAINT platform_changes_platform_length CHECK (((octet_length(platform) >= 1) AND (octet_length(platform) <= 200)))
);
ALTER TABLE private.platform_changes OWNER TO answerscope_owner;
COMMENT ON TABLE private.platform_changes IS 'Days on which a platform changed silently, found by the canary panel.';
COMMENT ON COLUMN private.platform_changes.day IS 'The first UTC day of the new answers. Later nights may find a day beside it, which is added.';
COMMENT ON COLUMN private.platform_changes.e_value IS 'The largest so far.';
COMMENT ON COLUMN private.platform_changes.judged_on IS 'The last compared day of the night that found it last.';
ALTER TABLE private.platform_changes ENABLE ROW LEVEL SECURITY;
ALTER TABLE private.platform_changes FORCE ROW LEVEL SECURITY;
CREATE POLICY service ON private.platform_changes FOR ALL TO answerscope_owner, answerscope_service USING (true) WITH CHECK (true);
GRANT INSERT, SELECT, UPDATE ON private.platform_changes TO answerscope_service;

-- table private.platform_leases
CREATE TABLE private.platform_leases (
    account text NOT NULL,
    holder uuid NOT NULL,
    in_flight integer NOT NULL,
    requests_per_minute double precision NOT NULL,
    tokens_per_minute double precision NOT NULL,
    max_in_flight integer NOT NULL,
    max_requests_per_minute double precision NOT NULL,
    max_tokens_per_minute double precision NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT platform_leases_pkey PRIMARY KEY (account, holder),
    CONSTRAINT platform_leases_account_length CHECK (((octet_length(account) >= 1) AND (octet_length(account) <= 200)))
);
ALTER TABLE private.platform_leases OWNER TO answerscope_owner;
COMMENT ON TABLE private.platform_leases IS 'Shares of the limits of accounts at platforms that processes hold.';
COMMENT ON COLUMN private.platform_leases.account IS 'The platform, and a short digest of the key, from which the key cannot be computed.';
COMMENT ON COLUMN private.platform_leases.max_in_flight IS 'With the other two, the limits of the account as the holder knows them: those of the organizations that it asks for.';
ALTER TABLE private.platform_leases ENABLE ROW LEVEL SECURITY;
ALTER TABLE private.platform_leases FORCE ROW LEVEL SECURITY;
CREATE POLICY service ON private.platform_leases FOR ALL TO answerscope_owner, answerscope_service USING (true) WITH CHECK (true);
GRANT DELETE, INSERT, SELECT, UPDATE ON private.platform_leases TO answerscope_service;

-- table private.provider_keys
CREATE TABLE private.provider_keys (
    organization_id uuid NOT NULL,
    platform text NOT NULL,
    sealed text NOT NULL,
    last_characters text NOT NULL,
    set_at timestamp with time zone NOT NULL DEFAULT now(),
    CONSTRAINT provider_keys_pkey PRIMARY KEY (organization_id, platform),
    CONSTRAINT provider_keys_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON DELETE CASCADE,
    CONSTRAINT provider_keys_last_characters_length CHECK ((char_length(last_characters) <= 4)),
    CONSTRAINT provider_keys_platform_length CHECK (((octet_length(platform) >= 1) AND (octet_length(platform) <= 200))),
    CONSTRAINT provider_keys_sealed_length CHECK (((char_length(sealed) >= 1) AND (char_length(sealed) <= 4000)))
);
ALTER TABLE private.provider_keys OWNER TO answerscope_owner;
COMMENT ON TABLE private.provider_keys IS 'Keys of AI platforms, of organizations that have their own.';
COMMENT ON COLUMN private.provider_keys.sealed IS 'The key, encrypted with a key of ANSWERSCOPE_SECRET_KEYS, whose id it begins with.';
COMMENT ON COLUMN private.provider_keys.last_characters IS 'By which people know the key; empty: it is too short to show any.';
CREATE TRIGGER log_audit AFTER INSERT OR DELETE OR UPDATE OF set_at ON private.provider_keys FOR EACH ROW EXECUTE FUNCTION private.log_provider_key();
ALTER TABLE private.provider_keys ENABLE ROW LEVEL SECURITY;
ALTER TABLE private.provider_keys FORCE ROW LEVEL SECURITY;
CREATE POLICY service ON private.provider_keys FOR ALL TO answerscope_owner, answerscope_service USING (true) WITH CHECK (true);
GRANT DELETE, INSERT, SELECT, UPDATE ON private.provider_keys TO answerscope_service;

-- table private.provider_limits
CREATE TABLE private.provider_limits (
    organization_id uuid NOT NULL,
    platform text NOT NULL,
    requests_per_minute integer,
    tokens_per_minute integer,
    in_flight integer,
    CONSTRAINT provider_limits_pkey PRIMARY KEY (organization_id, platform),
    CONSTRAINT provider_limits_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON DELETE CASCADE,
    CONSTRAINT provider_limits_in_flight_range CHECK (((in_flight >= 1) AND (in_flight <= 1000000))),
    CONSTRAINT provider_limits_platform_length CHECK (((octet_length(platform) >= 1) AND (octet_length(platform) <= 200))),
    CONSTRAINT provider_limits_requests_per_minute_range CHECK (((requests_per_minute >= 1) AND (requests_per_minute <= 1000000))),
    CONSTRAINT provider_limits_tokens_per_minute_range CHECK (((tokens_per_minute >= 0) AND (tokens_per_minute <= 1000000000)))
);
ALTER TABLE private.provider_limits OWNER TO answerscope_owner;
COMMENT ON TABLE private.provider_limits IS 'Limits that organizations set for their accounts at AI platforms; null is not set.';
COMMENT ON COLUMN private.provider_limits.tokens_per_minute IS '0: no limit.';
CREATE TRIGGER log_audit AFTER INSERT OR UPDATE ON private.provider_limits FOR EACH ROW EXECUTE FUNCTION private.log_provider_limits();
ALTER TABLE private.provider_limits ENABLE ROW LEVEL SECURITY;
ALTER TABLE private.provider_limits FORCE ROW LEVEL SECURITY;
CREATE POLICY service ON private.provider_limits FOR ALL TO answerscope_owner, answerscope_service USING (true) WITH CHECK (true);
GRANT DELETE, INSERT, SELECT, UPDATE ON private.provider_limits TO answerscope_service;

-- table private.provider_orders
CREATE TABLE private.provider_orders (
    organization_id uuid NOT NULL,
    platform text NOT NULL,
    providers text[] NOT NULL,
    CONSTRAINT provider_orders_pkey PRIMARY KEY (organization_id, platform),
    CONSTRAINT provider_orders_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON DELETE CASCADE,
    CONSTRAINT provider_orders_platform_length CHECK (((octet_length(platform) >= 1) AND (octet_length(platform) <= 200))),
    CONSTRAINT provider_orders_providers_are_words CHECK (private.are_words(providers))
);
ALTER TABLE private.provider_orders OWNER TO answerscope_owner;
COMMENT ON TABLE private.provider_orders IS 'Capture providers that organizations ask for a consumer surface, in place of the environment''s.';
COMMENT ON COLUMN private.provider_orders.providers IS 'The first one is asked first; empty: all with a key, by price.';
CREATE TRIGGER log_audit AFTER INSERT OR UPDATE ON private.provider_orders FOR EACH ROW EXECUTE FUNCTION private.log_provider_order();
ALTER TABLE private.provider_orders ENABLE ROW LEVEL SECURITY;
ALTER TABLE private.provider_orders FORCE ROW LEVEL SECURITY;
CREATE POLICY service ON private.provider_orders FOR ALL TO answerscope_owner, answerscope_service USING (true) WITH CHECK (true);
GRANT DELETE, INSERT, SELECT, UPDATE ON private.provider_orders TO answerscope_service;

-- table private.refresh_tokens
CREATE TABLE private.refresh_tokens (
    hash bytea NOT NULL,
    session_id uuid NOT NULL,
    created_at timestamp with time zone NOT NULL DEFAULT now(),
    used_at timestamp with time zone,
    CONSTRAINT refresh_tokens_pkey PRIMARY KEY (hash),
    CONSTRAINT refresh_tokens_session_id_fkey FOREIGN KEY (session_id) REFERENCES private.sessions(id) ON DELETE CASCADE,
    CONSTRAINT refresh_tokens_hash_length CHECK ((octet_length(hash) = 32))
);
ALTER TABLE private.refresh_tokens OWNER TO answerscope_owner;
CREATE INDEX refresh_tokens_session_id_idx ON private.refresh_tokens USING btree (session_id);
COMMENT ON TABLE private.refresh_tokens IS 'What gets a session its next access token, each once.';
COMMENT ON COLUMN private.refresh_tokens.hash IS 'SHA-256 of the token.';
COMMENT ON COLUMN private.refresh_tokens.used_at IS 'Null: it is the newest of its session.';
ALTER TABLE private.refresh_tokens ENABLE ROW LEVEL SECURITY;
ALTER TABLE private.refresh_tokens FORCE ROW LEVEL SECURITY;
CREATE POLICY service ON private.refresh_tokens FOR ALL TO answerscope_owner, answerscope_service USING (true) WITH CHECK (true);
GRANT DELETE, INSERT, SELECT, UPDATE ON private.refresh_tokens TO answerscope_service;

-- table private.rereads
CREATE TABLE private.rereads (
    brand_id uuid NOT NULL,
    organization_id uuid NOT NULL,
    urgent boolean NOT NULL,
    asked_at timestamp with time zone,
    due_at timestamp with time zone,
    first_day date,
    last_day date,
    revision integer NOT NULL DEFAULT 0,
    extract_version integer NOT NULL DEFAULT 0,
    cursor_day date,
    cursor_id uuid,
    done bigint NOT NULL DEFAULT 0,
    total bigint NOT NULL DEFAULT 0,
    left_over bigint NOT NULL DEFAULT 0,
    started_at timestamp with time zone,
    finished_at timestamp with time zone,
    worked_at timestamp with time zone,
    holder uuid,
    held_until timestamp with time zone,
    last_error text,
    CONSTRAINT rereads_pkey PRIMARY KEY (brand_id),
    CONSTRAINT rereads_brand_id_fkey FOREIGN KEY (brand_id) REFERENCES brands(id) ON DELETE CASCADE,
    CONSTRAINT rereads_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON DELETE CASCADE,
    CONSTRAINT rereads_cursor_is_whole CHECK (((cursor_day IS NULL) = (cursor_id IS NULL))),
    CONSTRAINT rereads_last_error_length CHECK ((char_length(last_error) <= 1000))
);
ALTER TABLE private.rereads OWNER TO answerscope_owner;
CREATE INDEX rereads_due_at_idx ON private.rereads USING btree (due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX rereads_organization_id_idx ON private.rereads USING btree (organization_id);
COMMENT ON TABLE private.rereads IS 'Brands whose stored answers are due to be read again, and the progress.';
COMMENT ON COLUMN private.rereads.urgent IS 'Requested by an edit or a person, so it precedes the brands that the sweep found.';
COMMENT ON COLUMN private.rereads.asked_at IS 'When the first waiting request came; null: none.';
COMMENT ON COLUMN private.rereads.due_at IS 'When it starts or goes on; null: it is done.';
COMMENT ON COLUMN private.rereads.first_day IS 'The earliest day to be read again; null: all.';
COMMENT ON COLUMN private.rereads.last_day IS 'The latest day to be read again; null: all.';
COMMENT ON COLUMN private.rereads.revision IS 'The brand''s revision with which the last page was read.';
COMMENT ON COLUMN private.rereads.cursor_day IS 'Everything up to this day''s answer cursor_id has been appended again; null: nothing.';
COMMENT ON COLUMN private.rereads.done IS 'Answers appended again by this run.';
COMMENT ON COLUMN private.rereads.total IS 'Answers with an older reading when this run began.';
COMMENT ON COLUMN private.rereads.left_over IS 'Answers that could not be appended again, or were not inserted.';
COMMENT ON COLUMN private.rereads.worked_at IS 'When a process last worked on it; the longest wait comes first.';
COMMENT ON COLUMN private.rereads.holder IS 'The process that holds its lease, until held_until.';
ALTER TABLE private.rereads ENABLE ROW LEVEL SECURITY;
ALTER TABLE private.rereads FORCE ROW LEVEL SECURITY;
CREATE POLICY service ON private.rereads FOR ALL TO answerscope_owner, answerscope_service USING (true) WITH CHECK (true);
GRANT DELETE, INSERT, SELECT, UPDATE ON private.rereads TO answerscope_service;

-- table private.river_job
CREATE TABLE private.river_job (
    id bigint NOT NULL DEFAULT nextval('private.river_job_id_seq'::regclass),
    state private.river_job_state NOT NULL DEFAULT 'available'::private.river_job_state,
    attempt smallint NOT NULL DEFAULT 0,
    max_attempts smallint NOT NULL DEFAULT 25,
    attempted_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL DEFAULT now(),
    finalized_at timestamp with time zone,
    scheduled_at timestamp with time zone NOT NULL DEFAULT now(),
    priority smallint NOT NULL DEFAULT 1,
    args jsonb NOT NULL,
    attempted_by text[],
    errors jsonb[],
    kind text NOT NULL,
    metadata jsonb NOT NULL DEFAULT '{}'::jsonb,
    queue text NOT NULL DEFAULT 'default'::text,
    tags character varying(255)[] NOT NULL DEFAULT '{}'::character varying[],
    unique_key bytea,
    unique_states bit(8),
    CONSTRAINT river_job_pkey PRIMARY KEY (id),
    CONSTRAINT finalized_or_finalized_at_null CHECK ((((finalized_at IS NULL) AND (state <> ALL (ARRAY['cancelled'::private.river_job_state, 'completed'::private.river_job_state, 'discarded'::private.river_job_state]))) OR ((finalized_at IS NOT NULL) AND (state = ANY (ARRAY['cancelled'::private.river_job_state, 'completed'::private.river_job_state, 'discarded'::private.river_job_state]))))),
    CONSTRAINT kind_length CHECK (((char_length(kind) > 0) AND (char_length(kind) < 128))),
    CONSTRAINT max_attempts_is_positive CHECK ((max_attempts > 0)),
    CONSTRAINT priority_in_range CHECK (((priority >= 1) AND (priority <= 4))),
    CONSTRAINT queue_length CHECK (((char_length(queue) > 0) AND (char_length(queue) < 128)))
);
ALTER TABLE private.river_job OWNER TO answerscope_owner;
CREATE INDEX river_job_args_index ON private.river_job USING gin (args);
CREATE INDEX river_job_kind ON private.river_job USING btree (kind);
CREATE INDEX river_job_metadata_index ON private.river_job USING gin (metadata);
CREATE INDEX river_job_prioritized_fetching_index ON private.river_job USING btree (state, queue, priority, scheduled_at, id);
CREATE INDEX river_job_state_and_finalized_at_index ON private.river_job USING btree (state, finalized_at) WHERE (finalized_at IS NOT NULL);
CREATE UNIQUE INDEX river_job_unique_idx ON private.river_job USING btree (unique_key) WHERE ((unique_key IS NOT NULL) AND (unique_states IS NOT NULL) AND private.river_job_state_in_bitmask(unique_states, state));
COMMENT ON TABLE private.river_job IS NULL;
ALTER TABLE private.river_job ENABLE ROW LEVEL SECURITY;
ALTER TABLE private.river_job FORCE ROW LEVEL SECURITY;
CREATE POLICY service ON private.river_job FOR ALL TO answerscope_owner, answerscope_service USING (true) WITH CHECK (true);
GRANT DELETE, INSERT, SELECT, UPDATE ON private.river_job TO answerscope_service;

-- table private.river_leader
CREATE UNLOGGED TABLE private.river_leader (
    elected_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    leader_id text NOT NULL,
    name text NOT NULL DEFAULT 'default'::text,
    CONSTRAINT river_leader_pkey PRIMARY KEY (name),
    CONSTRAINT leader_id_length CHECK (((char_length(leader_id) > 0) AND (char_length(leader_id) < 128))),
    CONSTRAINT name_length CHECK ((name = 'default'::text))
);
ALTER TABLE private.river_leader OWNER TO answerscope_owner;
COMMENT ON TABLE private.river_leader IS NULL;
ALTER TABLE private.river_leader ENABLE ROW LEVEL SECURITY;
ALTER TABLE private.river_leader FORCE ROW LEVEL SECURITY;
CREATE POLICY service ON private.river_leader FOR ALL TO answerscope_owner, answerscope_service USING (true) WITH CHECK (true);
GRANT DELETE, INSERT, SELECT, UPDATE ON private.river_leader TO answerscope_service;

-- table private.river_migration
CREATE TABLE private.river_migration (
    line text NOT NULL,
    version bigint NOT NULL,
    created_at timestamp with time zone NOT NULL DEFAULT now(),
    CONSTRAINT river_migration_pkey1 PRIMARY KEY (line, version),
    CONSTRAINT line_length CHECK (((char_length(line) > 0) AND (char_length(line) < 128))),
    CONSTRAINT version_gte_1 CHECK ((version >= 1))
);
ALTER TABLE private.river_migration OWNER TO answerscope_owner;
COMMENT ON TABLE private.river_migration IS NULL;
ALTER TABLE private.river_migration ENABLE ROW LEVEL SECURITY;
ALTER TABLE private.river_migration FORCE ROW LEVEL SECURITY;
CREATE POLICY service ON private.river_migration FOR ALL TO answerscope_owner, answerscope_service USING (true) WITH CHECK (true);
GRANT DELETE, INSERT, SELECT, UPDATE ON private.river_migration TO answerscope_service;

-- table private.river_notification
CREATE TABLE private.river_notification (
    id bigint NOT NULL DEFAULT nextval('private.river_notification_id_seq'::regclass),
    created_at timestamp with time zone NOT NULL DEFAULT now(),
    payload text NOT NULL,
    topic text NOT NULL,
    CONSTRAINT river_notification_pkey PRIMARY KEY (id),
    CONSTRAINT topic_length CHECK (((length(topic) > 0) AND (length(topic) < 128)))
);
ALTER TABLE private.river_notification OWNER TO answerscope_owner;
CREATE INDEX river_notification_created_at_idx ON private.river_notification USING btree (created_at);
CREATE INDEX river_notification_topic_id_idx ON private.river_notification USING btree (topic, id);
COMMENT ON TABLE private.river_notification IS NULL;
ALTER TABLE private.river_notification ENABLE ROW LEVEL SECURITY;
ALTER TABLE private.river_notification FORCE ROW LEVEL SECURITY;
CREATE POLICY service ON private.river_notification FOR ALL TO answerscope_owner, answerscope_service USING (true) WITH CHECK (true);
GRANT DELETE, INSERT, SELECT, UPDATE ON private.river_notification TO answerscope_service;

-- table private.river_queue
CREATE TABLE private.river_queue (
    name text NOT NULL,
    created_at timestamp with time zone NOT NULL DEFAULT now(),
    metadata jsonb NOT NULL DEFAULT '{}'::jsonb,
    paused_at timestamp with time zone,
    updated_at timestamp with time zone NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT river_queue_pkey PRIMARY KEY (name)
);
ALTER TABLE private.river_queue OWNER TO answerscope_owner;
COMMENT ON TABLE private.river_queue IS NULL;
ALTER TABLE private.river_queue ENABLE ROW LEVEL SECURITY;
ALTER TABLE private.river_queue FORCE ROW LEVEL SECURITY;
CREATE POLICY service ON private.river_queue FOR ALL TO answerscope_owner, answerscope_service USING (true) WITH CHECK (true);
GRANT DELETE, INSERT, SELECT, UPDATE ON private.river_queue TO answerscope_service;

-- table private.sessions
CREATE TABLE private.sessions (
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    user_id uuid NOT NULL,
    created_at timestamp with time zone NOT NULL DEFAULT now(),
    refreshed_at timestamp with time zone NOT NULL DEFAULT now(),
    revoked_at timestamp with time zone,
    cookie_hash bytea,
    expires_at timestamp with time zone,
    CONSTRAINT sessions_pkey PRIMARY KEY (id),
    CONSTRAINT sessions_cookie_hash_key UNIQUE (cookie_hash),
    CONSTRAINT sessions_user_id_fkey FOREIGN KEY (user_id) REFERENCES private.users(id) ON DELETE CASCADE,
    CONSTRAINT sessions_cookie_hash_length CHECK ((octet_length(cookie_hash) = 32))
);
ALTER TABLE private.sessions OWNER TO answerscope_owner;
CREATE INDEX sessions_user_id_idx ON private.sessions USING btree (user_id);
COMMENT ON TABLE private.sessions IS 'Who is signed in. Access tokens name their session, and are refused once it is revoked.';
COMMENT ON COLUMN private.sessions.refreshed_at IS 'Of the newest refresh token, or to the hour of the last use of the cookie: both work for 30 days.';
COMMENT ON COLUMN private.sessions.cookie_hash IS 'SHA-256 of the cookie of a session of the dashboard; null: of another one.';
COMMENT ON COLUMN private.sessions.expires_at IS 'Null: 30 days after its last use.';
ALTER TABLE private.sessions ENABLE ROW LEVEL SECURITY;
ALTER TABLE private.sessions FORCE ROW LEVEL SECURITY;
CREATE POLICY service ON private.sessions FOR ALL TO answerscope_owner, answerscope_service USING (true) WITH CHECK (true);
GRANT DELETE, INSERT, SELECT, UPDATE ON private.sessions TO answerscope_service;

-- table private.share_link_hashes
CREATE TABLE private.share_link_hashes (
    share_link_id uuid NOT NULL,
    hash bytea NOT NULL,
    password_hash text,
    CONSTRAINT share_link_hashes_pkey PRIMARY KEY (share_link_id),
    CONSTRAINT share_link_hashes_hash_key UNIQUE (hash),
    CONSTRAINT share_link_hashes_share_link_id_fkey FOREIGN KEY (share_link_id) REFERENCES share_links(id) ON DELETE CASCADE,
    CONSTRAINT share_link_hashes_hash_length CHECK ((octet_length(hash) = 32)),
    CONSTRAINT share_link_hashes_password_hash_length CHECK ((char_length(password_hash) <= 500))
);
ALTER TABLE private.share_link_hashes OWNER TO answerscope_owner;
COMMENT ON TABLE private.share_link_hashes IS 'What links are found by: SHA-256 of the token, and argon2id of the password, as a PHC string.';
ALTER TABLE private.share_link_hashes ENABLE ROW LEVEL SECURITY;
ALTER TABLE private.share_link_hashes FORCE ROW LEVEL SECURITY;
CREATE POLICY service ON private.share_link_hashes FOR ALL TO answerscope_owner, answerscope_service USING (true) WITH CHECK (true);
GRANT INSERT, SELECT ON private.share_link_hashes TO answerscope_service;

-- table private.signing_keys
CREATE TABLE private.signing_keys (
    id uuid NOT NULL,
    public_key bytea NOT NULL,
    private_key text NOT NULL,
    created_at timestamp with time zone NOT NULL DEFAULT now(),
    CONSTRAINT signing_keys_pkey PRIMARY KEY (id),
    CONSTRAINT signing_keys_private_key_length CHECK (((char_length(private_key) >= 1) AND (char_length(private_key) <= 2000)))
);
ALTER TABLE private.signing_keys OWNER TO answerscope_owner;
COMMENT ON TABLE private.signing_keys IS 'What signs access tokens (ES256). The newest signs, for 90 days; all verify.';
COMMENT ON COLUMN private.signing_keys.id IS 'The kid of its tokens.';
COMMENT ON COLUMN private.signing_keys.public_key IS 'PKIX, DER.';
COMMENT ON COLUMN private.signing_keys.private_key IS 'SEC 1, DER, encrypted with a key of ANSWERSCOPE_SECRET_KEYS, whose id it begins with.';
ALTER TABLE private.signing_keys ENABLE ROW LEVEL SECURITY;
ALTER TABLE private.signing_keys FORCE ROW LEVEL SECURITY;
CREATE POLICY service ON private.signing_keys FOR ALL TO answerscope_owner, answerscope_service USING (true) WITH CHECK (true);
GRANT DELETE, INSERT, SELECT, UPDATE ON private.signing_keys TO answerscope_service;

-- table private.spending
CREATE TABLE private.spending (
    organization_id uuid NOT NULL,
    platform text NOT NULL,
    day date NOT NULL,
    runs bigint NOT NULL,
    cost numeric NOT NULL,
    CONSTRAINT spending_pkey PRIMARY KEY (organization_id, platform, day),
    CONSTRAINT spending_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON DELETE CASCADE,
    CONSTRAINT spending_platform_length CHECK (((octet_length(platform) >= 1) AND (octet_length(platform) <= 200)))
);
ALTER TABLE private.spending OWNER TO answerscope_owner;
COMMENT ON TABLE private.spending IS 'Runs and cost by the day, in UTC, on which their job was started.';
COMMENT ON COLUMN private.spending.cost IS 'In US dollars: the estimate of a run until it has ended, then its cost, or the estimate where the platform reports no usage.';
ALTER TABLE private.spending ENABLE ROW LEVEL SECURITY;
ALTER TABLE private.spending FORCE ROW LEVEL SECURITY;
CREATE POLICY service ON private.spending FOR ALL TO answerscope_owner, answerscope_service USING (true) WITH CHECK (true);
GRANT DELETE, INSERT, SELECT, UPDATE ON private.spending TO answerscope_service;

-- table private.tasks
CREATE TABLE private.tasks (
    name text NOT NULL,
    known_since timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
    succeeded_at timestamp with time zone,
    CONSTRAINT tasks_pkey PRIMARY KEY (name),
    CONSTRAINT tasks_name_length CHECK (((octet_length(name) >= 1) AND (octet_length(name) <= 200)))
);
ALTER TABLE private.tasks OWNER TO answerscope_owner;
COMMENT ON TABLE private.tasks IS 'When each scheduled task last succeeded.';
COMMENT ON COLUMN private.tasks.known_since IS 'When a process first added it.';
COMMENT ON COLUMN private.tasks.succeeded_at IS 'When its last successful run ended; null: it never succeeded.';
ALTER TABLE private.tasks ENABLE ROW LEVEL SECURITY;
ALTER TABLE private.tasks FORCE ROW LEVEL SECURITY;
CREATE POLICY service ON private.tasks FOR ALL TO answerscope_owner, answerscope_service USING (true) WITH CHECK (true);
GRANT INSERT, SELECT, UPDATE ON private.tasks TO answerscope_service;

-- table private.tombstones
CREATE TABLE private.tombstones (
    kind text NOT NULL,
    id uuid NOT NULL,
    organization_id uuid NOT NULL,
    at timestamp with time zone NOT NULL DEFAULT now(),
    purged_at timestamp with time zone,
    CONSTRAINT tombstones_pkey PRIMARY KEY (kind, id),
    CONSTRAINT tombstones_kind_is_known CHECK ((kind = ANY (ARRAY['brand'::text, 'organization'::text])))
);
ALTER TABLE private.tombstones OWNER TO answerscope_owner;
COMMENT ON TABLE private.tombstones IS 'Brands and organizations that were deleted.';
COMMENT ON COLUMN private.tombstones.purged_at IS 'Start of its last complete purge; null: none.';
ALTER TABLE private.tombstones ENABLE ROW LEVEL SECURITY;
ALTER TABLE private.tombstones FORCE ROW LEVEL SECURITY;
CREATE POLICY service ON private.tombstones FOR ALL TO answerscope_owner, answerscope_service USING (true) WITH CHECK (true);
GRANT SELECT ON private.tombstones TO answerscope_service;
GRANT UPDATE (purged_at) ON private.tombstones TO answerscope_service;

-- table private.tracking_workers
CREATE TABLE private.tracking_workers (
    id uuid NOT NULL,
    platforms text[] NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT tracking_workers_pkey PRIMARY KEY (id),
    CONSTRAINT tracking_workers_platforms_are_words CHECK (private.are_words(platforms))
);
ALTER TABLE private.tracking_workers OWNER TO answerscope_owner;
COMMENT ON TABLE private.tracking_workers IS 'Processes that work on tracking jobs.';
COMMENT ON COLUMN private.tracking_workers.platforms IS 'Those whose keys are in the process''s environment.';
ALTER TABLE private.tracking_workers ENABLE ROW LEVEL SECURITY;
ALTER TABLE private.tracking_workers FORCE ROW LEVEL SECURITY;
CREATE POLICY service ON private.tracking_workers FOR ALL TO answerscope_owner, answerscope_service USING (true) WITH CHECK (true);
GRANT DELETE, INSERT, SELECT, UPDATE ON private.tracking_workers TO answerscope_service;

-- table private.user_identities
CREATE TABLE private.user_identities (
    issuer text NOT NULL,
    subject text NOT NULL,
    user_id uuid NOT NULL,
    linked_at timestamp with time zone NOT NULL DEFAULT now(),
    CONSTRAINT user_identities_pkey PRIMARY KEY (issuer, subject),
    CONSTRAINT user_identities_user_id_fkey FOREIGN KEY (user_id) REFERENCES private.users(id) ON DELETE CASCADE,
    CONSTRAINT user_identities_issuer_length CHECK (((char_length(issuer) >= 1) AND (char_length(issuer) <= 2000))),
    CONSTRAINT user_identities_subject_length CHECK (((char_length(subject) >= 1) AND (char_length(subject) <= 2000)))
);
ALTER TABLE private.user_identities OWNER TO answerscope_owner;
CREATE INDEX user_identities_user_id_idx ON private.user_identities USING btree (user_id);
COMMENT ON TABLE private.user_identities IS 'Who a user is at an OpenID provider.';
COMMENT ON COLUMN private.user_identities.subject IS 'The sub of the issuer''s tokens.';
ALTER TABLE private.user_identities ENABLE ROW LEVEL SECURITY;
ALTER TABLE private.user_identities FORCE ROW LEVEL SECURITY;
CREATE POLICY service ON private.user_identities FOR ALL TO answerscope_owner, answerscope_service USING (true) WITH CHECK (true);
GRANT DELETE, INSERT, SELECT, UPDATE ON private.user_identities TO answerscope_service;

-- table private.users
CREATE TABLE private.users (
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    email private.citext NOT NULL,
    password_hash text,
    is_active boolean NOT NULL DEFAULT true,
    last_sign_in_at timestamp with time zone,
    user_metadata jsonb NOT NULL DEFAULT '{}'::jsonb,
    created_at timestamp with time zone NOT NULL DEFAULT now(),
    updated_at timestamp with time zone NOT NULL DEFAULT now(),
    is_unproven boolean NOT NULL DEFAULT false,
    CONSTRAINT users_pkey PRIMARY KEY (id),
    CONSTRAINT users_email_key UNIQUE (email),
    CONSTRAINT users_email_form CHECK (((char_length((email)::text) <= 320) AND ((email)::text ~ '^[^@[:space:]]+@[^@[:space:]]+$'::text))),
    CONSTRAINT users_password_hash_length CHECK ((char_length(password_hash) <= 500)),
    CONSTRAINT users_user_metadata_is_object CHECK ((jsonb_typeof(user_metadata) = 'object'::text))
);
ALTER TABLE private.users OWNER TO answerscope_owner;
COMMENT ON TABLE private.users IS 'People who sign in, or whose keys do.';
COMMENT ON COLUMN private.users.password_hash IS 'argon2id, as a PHC string; null for a user of another identity provider.';
COMMENT ON COLUMN private.users.is_unproven IS 'Made by the link of an inviter who has seen it, and not yet proven by an identity or a reset.';
CREATE TRIGGER emit BEFORE DELETE ON private.users FOR EACH ROW EXECUTE FUNCTION private.emit_change();
CREATE TRIGGER log_audit AFTER INSERT OR UPDATE OF email, password_hash, is_active ON private.users FOR EACH ROW EXECUTE FUNCTION private.log_audit_of_row();
CREATE TRIGGER log_audit_delete BEFORE DELETE ON private.users FOR EACH ROW EXECUTE FUNCTION private.log_audit_of_row();
CREATE TRIGGER stamp BEFORE UPDATE ON private.users FOR EACH ROW EXECUTE FUNCTION private.stamp();
ALTER TABLE private.users ENABLE ROW LEVEL SECURITY;
ALTER TABLE private.users FORCE ROW LEVEL SECURITY;
CREATE POLICY service ON private.users FOR ALL TO answerscope_owner, answerscope_service USING (true) WITH CHECK (true);
GRANT DELETE, INSERT, SELECT, UPDATE ON private.users TO answerscope_service;

-- table private.verdict_checks
CREATE TABLE private.verdict_checks (
    day date NOT NULL,
    relabelling text NOT NULL,
    reach text NOT NULL,
    rows integer NOT NULL,
    looks integer NOT NULL,
    alarmed_looks integer NOT NULL,
    row_quarters double precision DEFAULT ((looks)::numeric / 90.0),
    alarmed_row_quarters integer NOT NULL,
    moves integer NOT NULL,
    held_moves integer NOT NULL,
    CONSTRAINT verdict_checks_pkey PRIMARY KEY (day, relabelling, reach),
    CONSTRAINT verdict_checks_reach_known CHECK ((reach = ANY (ARRAY['brand'::text, 'prompts'::text]))),
    CONSTRAINT verdict_checks_relabelling_known CHECK ((relabelling = ANY (ARRAY['none'::text, 'signs'::text, 'days'::text])))
);
ALTER TABLE private.verdict_checks OWNER TO answerscope_owner;
COMMENT ON TABLE private.verdict_checks IS 'The nightly check of verdicts: how often they alarm although nothing changed, and how often moves held.';
COMMENT ON COLUMN private.verdict_checks.day IS 'The last UTC day that was looked at. A check of the same day replaces it.';
COMMENT ON COLUMN private.verdict_checks.relabelling IS 'How answers were changed so that nothing moved; none: they are as they came.';
COMMENT ON COLUMN private.verdict_checks.rows IS 'Brands and platforms of brands that have 56 days with answers.';
COMMENT ON COLUMN private.verdict_checks.looks IS 'Verdicts: at most the last 90 days of each row.';
COMMENT ON COLUMN private.verdict_checks.alarmed_looks IS 'Verdicts that are a move of this reach.';
COMMENT ON COLUMN private.verdict_checks.row_quarters IS 'Looks, in quarters of 90.';
COMMENT ON COLUMN private.verdict_checks.alarmed_row_quarters IS 'Rows with such a verdict.';
COMMENT ON COLUMN private.verdict_checks.moves IS 'Moves seen 28 days ago or earlier that can be compared with their next 14 days.';
COMMENT ON COLUMN private.verdict_checks.held_moves IS 'Moves whose next 14 days differ from before in the same direction, at least half as much.';
ALTER TABLE private.verdict_checks ENABLE ROW LEVEL SECURITY;
ALTER TABLE private.verdict_checks FORCE ROW LEVEL SECURITY;
CREATE POLICY service ON private.verdict_checks FOR ALL TO answerscope_owner, answerscope_service USING (true) WITH CHECK (true);
GRANT INSERT, SELECT, UPDATE ON private.verdict_checks TO answerscope_service;

-- table private.visitor_salts
CREATE UNLOGGED TABLE private.visitor_salts (
    day date NOT NULL,
    salt bytea NOT NULL,
    made_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT visitor_salts_pkey PRIMARY KEY (day),
    CONSTRAINT visitor_salts_salt_length CHECK ((octet_length(salt) = 16))
);
ALTER TABLE private.visitor_salts OWNER TO answerscope_owner;
COMMENT ON TABLE private.visitor_salts IS 'Keys of the daily visitor hash; none is older than 48 hours.';
COMMENT ON COLUMN private.visitor_salts.day IS 'The UTC day whose visits it hashes.';
ALTER TABLE private.visitor_salts ENABLE ROW LEVEL SECURITY;
ALTER TABLE private.visitor_salts FORCE ROW LEVEL SECURITY;
CREATE POLICY service ON private.visitor_salts FOR ALL TO answerscope_owner, answerscope_service USING (true) WITH CHECK (true);
GRANT INSERT, SELECT, TRUNCATE ON private.visitor_salts TO answerscope_service;

-- table private.webhook_secrets
CREATE TABLE private.webhook_secrets (
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    organization_id uuid NOT NULL,
    endpoint_id uuid NOT NULL,
    sealed text NOT NULL,
    expires_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL DEFAULT now(),
    CONSTRAINT webhook_secrets_pkey PRIMARY KEY (id),
    CONSTRAINT webhook_secrets_endpoint_id_fkey FOREIGN KEY (endpoint_id) REFERENCES webhook_endpoints(id) ON DELETE CASCADE,
    CONSTRAINT webhook_secrets_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON DELETE CASCADE,
    CONSTRAINT webhook_secrets_sealed_length CHECK (((char_length(sealed) >= 1) AND (char_length(sealed) <= 4000)))
);
ALTER TABLE private.webhook_secrets OWNER TO answerscope_owner;
CREATE INDEX webhook_secrets_endpoint_id_idx ON private.webhook_secrets USING btree (endpoint_id);
CREATE INDEX webhook_secrets_organization_id_idx ON private.webhook_secrets USING btree (organization_id);
COMMENT ON TABLE private.webhook_secrets IS 'What deliveries are signed with; of Slack the address.';
COMMENT ON COLUMN private.webhook_secrets.sealed IS 'Encrypted with a key of ANSWERSCOPE_SECRET_KEYS, whose id it begins with.';
COMMENT ON COLUMN private.webhook_secrets.expires_at IS 'Of one that was rotated: until when it signs too; null: the current one.';
ALTER TABLE private.webhook_secrets ENABLE ROW LEVEL SECURITY;
ALTER TABLE private.webhook_secrets FORCE ROW LEVEL SECURITY;
CREATE POLICY service ON private.webhook_secrets FOR ALL TO answerscope_owner, answerscope_service USING (true) WITH CHECK (true);
GRANT DELETE, INSERT, SELECT, UPDATE ON private.webhook_secrets TO answerscope_service;

-- table public.annotations
CREATE TABLE public.annotations (
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    brand_id uuid,
    organization_id uuid NOT NULL,
    day date NOT NULL,
    day_to date,
    text text NOT NULL,
    url text,
    created_by uuid,
    created_at timestamp with time zone NOT NULL DEFAULT now(),
    updated_at timestamp with time zone NOT NULL DEFAULT now(),
    CONSTRAINT annotations_pkey PRIMARY KEY (id),
    CONSTRAINT annotations_brand_id_fkey FOREIGN KEY (brand_id) REFERENCES brands(id) ON DELETE CASCADE,
    CONSTRAINT annotations_created_by_fkey FOREIGN KEY (created_by) REFERENCES private.users(id) ON DELETE SET NULL,
    CONSTRAINT annotations_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON DELETE CASCADE,
    CONSTRAINT annotations_day_is_finite CHECK (isfinite(day)),
    CONSTRAINT annotations_day_to_order CHECK (((day_to >= day) AND isfinite(day_to))),
    CONSTRAINT annotations_text_form CHECK (((btrim(text) <> ''::text) AND (text !~ '[\u0001-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]'::text))),
    CONSTRAINT annotations_text_length CHECK ((char_length(text) <= 280)),
    CONSTRAINT annotations_url_is_http CHECK ((url ~* '^https?://[^/?#[:space:][:cntrl:]][^[:space:][:cntrl:]]*$'::text)),
    CONSTRAINT annotations_url_length CHECK ((char_length(url) <= 2000))
);
ALTER TABLE public.annotations OWNER TO answerscope_owner;
CREATE INDEX annotations_brand_id_idx ON public.annotations USING btree (brand_id, day);
CREATE INDEX annotations_created_by_idx ON public.annotations USING btree (created_by);
CREATE INDEX annotations_organization_id_idx ON public.annotations USING btree (organization_id, day);
COMMENT ON TABLE public.annotations IS 'Notes on days, which charts show: what happened then.';
COMMENT ON COLUMN public.annotations.brand_id IS 'Null: every brand of the organization.';
COMMENT ON COLUMN public.annotations.organization_id IS 'The brand''s; without a brand the caller''s; filled.';
COMMENT ON COLUMN public.annotations.day IS 'A UTC day, as in figures.';
COMMENT ON COLUMN public.annotations.day_to IS 'The last day; null: day alone.';
COMMENT ON COLUMN public.annotations.created_by IS 'The user who added it; filled. Null: the user was deleted, or it was no user.';
CREATE TRIGGER fill BEFORE INSERT ON public.annotations FOR EACH ROW EXECUTE FUNCTION private.fill_annotation();
CREATE TRIGGER limit_added AFTER INSERT ON public.annotations REFERENCING NEW TABLE AS added FOR EACH STATEMENT WHEN ((CURRENT_USER = 'authenticated'::name)) EXECUTE FUNCTION private.limit_added('10000', 'organization_id', 'an organization has at most 10,000 notes: delete one first, or ask the operator');
CREATE TRIGGER log_audit AFTER INSERT OR DELETE OR UPDATE OF day, day_to, text, url ON public.annotations FOR EACH ROW EXECUTE FUNCTION private.log_annotation();
CREATE TRIGGER stamp BEFORE INSERT OR UPDATE ON public.annotations FOR EACH ROW EXECUTE FUNCTION private.stamp();
ALTER TABLE public.annotations ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.annotations FORCE ROW LEVEL SECURITY;
CREATE POLICY deletes ON public.annotations FOR DELETE TO authenticated USING ((organization_id = ( SELECT private.org_id('member'::text) AS org_id)));
CREATE POLICY inserts ON public.annotations FOR INSERT TO authenticated WITH CHECK ((organization_id = ( SELECT private.org_id('member'::text) AS org_id)));
CREATE POLICY reads ON public.annotations FOR SELECT TO authenticated USING ((organization_id = ( SELECT private.org_id('viewer'::text) AS org_id)));
CREATE POLICY service ON public.annotations FOR ALL TO answerscope_owner, answerscope_service USING (true) WITH CHECK (true);
CREATE POLICY updates ON public.annotations FOR UPDATE TO authenticated USING ((organization_id = ( SELECT private.org_id('member'::text) AS org_id)));
GRANT DELETE, INSERT, SELECT ON public.annotations TO answerscope_service;
GRANT UPDATE (day, day_to, text, url) ON public.annotations TO answerscope_service;
GRANT DELETE, INSERT, SELECT ON public.annotations TO authenticated;
GRANT UPDATE (day, day_to, text, url) ON public.annotations TO authenticated;

-- table public.api_keys
CREATE TABLE public.api_keys (
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    organization_id uuid NOT NULL,
    user_id uuid NOT NULL,
    name text NOT NULL,
    prefix text NOT NULL,
    scopes text[] NOT NULL DEFAULT '{}'::text[],
    expires_at timestamp with time zone,
    last_used_at timestamp with time zone,
    revoked_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL DEFAULT now(),
    updated_at timestamp with time zone NOT NULL DEFAULT now(),
    CONSTRAINT api_keys_pkey PRIMARY KEY (id),
    CONSTRAINT api_keys_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON DELETE CASCADE,
    CONSTRAINT api_keys_user_id_fkey FOREIGN KEY (user_id) REFERENCES private.users(id) ON DELETE CASCADE,
    CONSTRAINT api_keys_name_form CHECK (private.is_name(name)),
    CONSTRAINT api_keys_prefix_length CHECK ((char_length(prefix) <= 20)),
    CONSTRAINT api_keys_scopes_are_words CHECK (private.are_words(scopes))
);
ALTER TABLE public.api_keys OWNER TO answerscope_owner;
CREATE INDEX api_keys_organization_id_idx ON public.api_keys USING btree (organization_id);
CREATE INDEX api_keys_user_id_idx ON public.api_keys USING btree (user_id);
COMMENT ON TABLE public.api_keys IS 'Long-lived keys of a user, for that user''s organization. Made and revoked by /api/keys: a key is shown once.';
COMMENT ON COLUMN public.api_keys.prefix IS 'The first characters of the key, which identify it.';
COMMENT ON COLUMN public.api_keys.last_used_at IS 'To the minute.';
CREATE TRIGGER emit AFTER INSERT ON public.api_keys FOR EACH ROW EXECUTE FUNCTION private.emit_change();
CREATE TRIGGER emit_deleted AFTER DELETE ON public.api_keys FOR EACH ROW WHEN ((old.revoked_at IS NULL)) EXECUTE FUNCTION private.emit_change();
CREATE TRIGGER emit_revoked AFTER UPDATE OF revoked_at ON public.api_keys FOR EACH ROW WHEN (((new.revoked_at IS NOT NULL) AND (old.revoked_at IS NULL))) EXECUTE FUNCTION private.emit_change();
CREATE TRIGGER limit_rows BEFORE INSERT ON public.api_keys FOR EACH ROW EXECUTE FUNCTION private.limit_rows('50', 'a user has at most 50 keys that work: revoke one first', 'r.user_id = ($1).user_id AND r.revoked_at IS NULL AND (r.expires_at IS NULL OR r.expires_at > now())');
CREATE TRIGGER log_audit AFTER INSERT OR DELETE OR UPDATE OF user_id, scopes, expires_at, revoked_at ON public.api_keys FOR EACH ROW EXECUTE FUNCTION private.log_audit_of_row();
CREATE TRIGGER stamp BEFORE UPDATE ON public.api_keys FOR EACH ROW EXECUTE FUNCTION private.stamp();
ALTER TABLE public.api_keys ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.api_keys FORCE ROW LEVEL SECURITY;
CREATE POLICY reads ON public.api_keys FOR SELECT TO authenticated USING (((organization_id = ( SELECT private.org_id() AS org_id)) AND ((user_id = ( SELECT private.user_id() AS user_id)) OR (organization_id = ( SELECT private.org_id('admin'::text) AS org_id)))));
CREATE POLICY service ON public.api_keys FOR ALL TO answerscope_owner, answerscope_service USING (true) WITH CHECK (true);
GRANT DELETE, INSERT, SELECT, UPDATE ON public.api_keys TO answerscope_service;
GRANT SELECT ON public.api_keys TO authenticated;

-- table public.audit_log
CREATE TABLE public.audit_log (
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    organization_id uuid,
    actor_id uuid,
    action text NOT NULL,
    subject text NOT NULL,
    detail jsonb NOT NULL DEFAULT '{}'::jsonb,
    at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT audit_log_pkey PRIMARY KEY (id),
    CONSTRAINT audit_log_action_length CHECK (((char_length(action) >= 1) AND (char_length(action) <= 100))),
    CONSTRAINT audit_log_subject_length CHECK ((char_length(subject) <= 1000))
);
ALTER TABLE public.audit_log OWNER TO answerscope_owner;
CREATE INDEX audit_log_at_idx ON public.audit_log USING btree (at DESC);
CREATE INDEX audit_log_organization_id_idx ON public.audit_log USING btree (organization_id, at DESC);
COMMENT ON TABLE public.audit_log IS 'Who did what to keys, members, brands and analysts. It only grows.';
COMMENT ON COLUMN public.audit_log.organization_id IS 'Kept when the organization is deleted; null: of no organization, such as a user who is in none.';
COMMENT ON COLUMN public.audit_log.actor_id IS 'The user of a token; null: the command line.';
COMMENT ON COLUMN public.audit_log.action IS 'Such as: key added.';
COMMENT ON COLUMN public.audit_log.subject IS 'To whom or what: a slug, an email, a key''s prefix and name, an analyst''s login.';
COMMENT ON COLUMN public.audit_log.detail IS 'Of a change: each column with its old and its new value.';
ALTER TABLE public.audit_log ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.audit_log FORCE ROW LEVEL SECURITY;
CREATE POLICY reads ON public.audit_log FOR SELECT TO authenticated USING ((organization_id = ( SELECT private.org_id('admin'::text) AS org_id)));
CREATE POLICY service ON public.audit_log FOR ALL TO answerscope_owner, answerscope_service USING (true) WITH CHECK (true);
GRANT SELECT ON public.audit_log TO answerscope_service;
GRANT SELECT ON public.audit_log TO authenticated;

-- table public.brand_domains
CREATE TABLE public.brand_domains (
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    brand_id uuid NOT NULL,
    organization_id uuid NOT NULL,
    domain text NOT NULL,
    country text,
    is_primary boolean NOT NULL DEFAULT false,
    created_at timestamp with time zone NOT NULL DEFAULT now(),
    updated_at timestamp with time zone NOT NULL DEFAULT now(),
    CONSTRAINT brand_domains_pkey PRIMARY KEY (id),
    CONSTRAINT brand_domains_brand_id_domain_key UNIQUE (brand_id, domain),
    CONSTRAINT brand_domains_brand_id_fkey FOREIGN KEY (brand_id) REFERENCES brands(id) ON DELETE CASCADE,
    CONSTRAINT brand_domains_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON DELETE CASCADE,
    CONSTRAINT brand_domains_country_length CHECK ((char_length(country) <= 100)),
    CONSTRAINT brand_domains_domain_is_host CHECK (private.are_hosts(ARRAY[domain]))
);
ALTER TABLE public.brand_domains OWNER TO answerscope_owner;
CREATE INDEX brand_domains_organization_id_idx ON public.brand_domains USING btree (organization_id);
COMMENT ON TABLE public.brand_domains IS 'The hosts that are a brand''s own, with everything under them.';
COMMENT ON COLUMN public.brand_domains.organization_id IS 'The brand''s; filled.';
COMMENT ON COLUMN public.brand_domains.domain IS 'A host as private.domain_of has it; what is written may be any address of it.';
CREATE TRIGGER fill BEFORE INSERT ON public.brand_domains FOR EACH ROW EXECUTE FUNCTION private.fill_from_brand();
CREATE TRIGGER keep_domain BEFORE INSERT OR UPDATE OF domain ON public.brand_domains FOR EACH ROW EXECUTE FUNCTION private.keep_domain();
CREATE TRIGGER limit_added AFTER INSERT ON public.brand_domains REFERENCING NEW TABLE AS added FOR EACH STATEMENT WHEN ((CURRENT_USER = 'authenticated'::name)) EXECUTE FUNCTION private.limit_added('5000', 'organization_id', 'an organization has at most 5,000 domains: delete one first, or ask the operator');
CREATE TRIGGER notify_sites_delete AFTER DELETE ON public.brand_domains REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION private.notify_sites();
CREATE TRIGGER notify_sites_insert AFTER INSERT ON public.brand_domains REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION private.notify_sites();
CREATE TRIGGER notify_sites_update AFTER UPDATE ON public.brand_domains REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION private.notify_sites();
CREATE TRIGGER revise_delete AFTER DELETE ON public.brand_domains REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION private.revise_brands();
CREATE TRIGGER revise_insert AFTER INSERT ON public.brand_domains REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION private.revise_brands();
CREATE TRIGGER revise_update AFTER UPDATE ON public.brand_domains REFERENCING OLD TABLE AS before NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION private.revise_brands_on_update('updated_at', 'country', 'is_primary');
CREATE TRIGGER stamp BEFORE INSERT OR UPDATE ON public.brand_domains FOR EACH ROW EXECUTE FUNCTION private.stamp();
CREATE TRIGGER stay BEFORE UPDATE ON public.brand_domains FOR EACH ROW WHEN ((((old.id IS DISTINCT FROM new.id) OR (old.organization_id IS DISTINCT FROM new.organization_id)) OR (old.brand_id IS DISTINCT FROM new.brand_id))) EXECUTE FUNCTION private.refuse_move();
ALTER TABLE public.brand_domains ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.brand_domains FORCE ROW LEVEL SECURITY;
CREATE POLICY deletes ON public.brand_domains FOR DELETE TO authenticated USING ((organization_id = ( SELECT private.org_id('member'::text) AS org_id)));
CREATE POLICY inserts ON public.brand_domains FOR INSERT TO authenticated WITH CHECK ((organization_id = ( SELECT private.org_id('member'::text) AS org_id)));
CREATE POLICY reads ON public.brand_domains FOR SELECT TO authenticated USING ((organization_id = ( SELECT private.org_id('viewer'::text) AS org_id)));
CREATE POLICY service ON public.brand_domains FOR ALL TO answerscope_owner, answerscope_service USING (true) WITH CHECK (true);
CREATE POLICY updates ON public.brand_domains FOR UPDATE TO authenticated USING ((organization_id = ( SELECT private.org_id('member'::text) AS org_id)));
GRANT DELETE, INSERT, SELECT, UPDATE ON public.brand_domains TO answerscope_service;
GRANT DELETE, INSERT, SELECT, UPDATE ON public.brand_domains TO authenticated;

-- table public.brand_platforms
CREATE TABLE public.brand_platforms (
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    brand_id uuid NOT NULL,
    organization_id uuid NOT NULL,
    platform text NOT NULL,
    is_enabled boolean NOT NULL DEFAULT true,
    check_frequency text NOT NULL DEFAULT 'daily'::text,
    model text,
    last_checked_at timestamp with time zone,
    next_check_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL DEFAULT now(),
    updated_at timestamp with time zone NOT NULL DEFAULT now(),
    scheduled_at timestamp with time zone NOT NULL DEFAULT now(),
    CONSTRAINT brand_platforms_pkey PRIMARY KEY (id),
    CONSTRAINT brand_platforms_brand_id_platform_model_key UNIQUE NULLS NOT DISTINCT (brand_id, platform, model),
    CONSTRAINT brand_platforms_brand_id_fkey FOREIGN KEY (brand_id) REFERENCES brands(id) ON DELETE CASCADE,
    CONSTRAINT brand_platforms_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON DELETE CASCADE,
    CONSTRAINT brand_platforms_check_frequency_is_known CHECK ((check_frequency = ANY (ARRAY['hourly'::text, 'daily'::text, 'weekly'::text, 'monthly'::text, 'manual'::text]))),
    CONSTRAINT brand_platforms_model_length CHECK (((octet_length(model) >= 1) AND (octet_length(model) <= 512))),
    CONSTRAINT brand_platforms_platform_length CHECK (((octet_length(platform) >= 1) AND (octet_length(platform) <= 200)))
);
ALTER TABLE public.brand_platforms OWNER TO answerscope_owner;
CREATE INDEX brand_platforms_organization_id_idx ON public.brand_platforms USING btree (organization_id);
COMMENT ON TABLE public.brand_platforms IS 'Where and how often a brand''s prompts are asked.';
COMMENT ON COLUMN public.brand_platforms.organization_id IS 'The brand''s; filled.';
COMMENT ON COLUMN public.brand_platforms.model IS 'The requested model; null: the platform''s default.';
COMMENT ON COLUMN public.brand_platforms.last_checked_at IS 'What a client writes to it is ignored.';
COMMENT ON COLUMN public.brand_platforms.next_check_at IS 'When the brand is due; null: at once, if it was never checked.';
COMMENT ON COLUMN public.brand_platforms.scheduled_at IS 'When it was added, enabled or disabled, or got its frequency.';
CREATE TRIGGER fill BEFORE INSERT ON public.brand_platforms FOR EACH ROW EXECUTE FUNCTION private.fill_from_brand();
CREATE TRIGGER keep_checked BEFORE INSERT OR UPDATE OF last_checked_at ON public.brand_platforms FOR EACH ROW EXECUTE FUNCTION private.keep_checked();
CREATE TRIGGER reschedule BEFORE UPDATE ON public.brand_platforms FOR EACH ROW WHEN (((old.check_frequency IS DISTINCT FROM new.check_frequency) OR (old.is_enabled IS DISTINCT FROM new.is_enabled))) EXECUTE FUNCTION private.reschedule();
CREATE TRIGGER stamp BEFORE INSERT OR UPDATE ON public.brand_platforms FOR EACH ROW EXECUTE FUNCTION private.stamp();
CREATE TRIGGER stay BEFORE UPDATE ON public.brand_platforms FOR EACH ROW WHEN ((((old.id IS DISTINCT FROM new.id) OR (old.organization_id IS DISTINCT FROM new.organization_id)) OR (old.brand_id IS DISTINCT FROM new.brand_id))) EXECUTE FUNCTION private.refuse_move();
ALTER TABLE public.brand_platforms ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.brand_platforms FORCE ROW LEVEL SECURITY;
CREATE POLICY deletes ON public.brand_platforms FOR DELETE TO authenticated USING ((organization_id = ( SELECT private.org_id('member'::text) AS org_id)));
CREATE POLICY inserts ON public.brand_platforms FOR INSERT TO authenticated WITH CHECK ((organization_id = ( SELECT private.org_id('member'::text) AS org_id)));
CREATE POLICY reads ON public.brand_platforms FOR SELECT TO authenticated USING ((organization_id = ( SELECT private.org_id('viewer'::text) AS org_id)));
CREATE POLICY service ON public.brand_platforms FOR ALL TO answerscope_owner, answerscope_service USING (true) WITH CHECK (true);
CREATE POLICY updates ON public.brand_platforms FOR UPDATE TO authenticated USING ((organization_id = ( SELECT private.org_id('member'::text) AS org_id)));
GRANT DELETE, INSERT, SELECT, UPDATE ON public.brand_platforms TO answerscope_service;
GRANT DELETE, INSERT, SELECT, UPDATE ON public.brand_platforms TO authenticated;

-- table public.brands
CREATE TABLE public.brands (
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    organization_id uuid NOT NULL,
    name text NOT NULL,
    slug text NOT NULL,
    industry text,
    region text,
    language text,
    aliases text[] NOT NULL DEFAULT '{}'::text[],
    is_active boolean NOT NULL DEFAULT true,
    revision integer NOT NULL DEFAULT 1,
    created_at timestamp with time zone NOT NULL DEFAULT now(),
    updated_at timestamp with time zone NOT NULL DEFAULT now(),
    CONSTRAINT brands_pkey PRIMARY KEY (id),
    CONSTRAINT brands_organization_id_slug_key UNIQUE (organization_id, slug),
    CONSTRAINT brands_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON DELETE CASCADE,
    CONSTRAINT brands_aliases_are_words CHECK (private.are_words(aliases)),
    CONSTRAINT brands_industry_length CHECK ((char_length(industry) <= 200)),
    CONSTRAINT brands_language_length CHECK ((octet_length(language) <= 64)),
    CONSTRAINT brands_name_form CHECK (private.is_name(name)),
    CONSTRAINT brands_region_length CHECK ((char_length(region) <= 100)),
    CONSTRAINT brands_slug_form CHECK (private.is_slug(slug))
);
ALTER TABLE public.brands OWNER TO answerscope_owner;
COMMENT ON TABLE public.brands IS 'A brand whose presence in AI answers is tracked.';
COMMENT ON COLUMN public.brands.organization_id IS 'The caller''s when missing.';
COMMENT ON COLUMN public.brands.slug IS 'Its name in addresses, unique in the organization; made from the name when missing.';
COMMENT ON COLUMN public.brands.aliases IS 'Other names that count as a mention.';
COMMENT ON COLUMN public.brands.revision IS 'Rises with every edit of names, aliases, domains or competitors; what is written to it is ignored.';
CREATE TRIGGER add_tombstone AFTER DELETE ON public.brands FOR EACH ROW EXECUTE FUNCTION private.add_brand_tombstone();
CREATE TRIGGER delete_events AFTER DELETE ON public.brands FOR EACH ROW EXECUTE FUNCTION private.delete_events_of_brand();
CREATE TRIGGER emit AFTER INSERT OR DELETE ON public.brands FOR EACH ROW EXECUTE FUNCTION private.emit_change();
CREATE TRIGGER fill BEFORE INSERT ON public.brands FOR EACH ROW WHEN ((new.organization_id IS NULL)) EXECUTE FUNCTION private.fill_organization();
CREATE TRIGGER fill_slug BEFORE INSERT ON public.brands FOR EACH ROW WHEN ((COALESCE(new.slug, ''::text) = ''::text)) EXECUTE FUNCTION private.fill_brand_slug();
CREATE TRIGGER limit_added AFTER INSERT ON public.brands REFERENCING NEW TABLE AS added FOR EACH STATEMENT WHEN ((CURRENT_USER = 'authenticated'::name)) EXECUTE FUNCTION private.limit_added('1000', 'organization_id', 'an organization has at most 1,000 brands: delete one first, or ask the operator');
CREATE TRIGGER log_audit AFTER INSERT OR DELETE OR UPDATE OF name, slug, industry, region, language, aliases, is_active ON public.brands FOR EACH ROW EXECUTE FUNCTION private.log_audit_of_row();
CREATE TRIGGER note_deletion AFTER DELETE ON public.brands FOR EACH STATEMENT EXECUTE FUNCTION private.note_deleted_brands();
CREATE TRIGGER notify_sites_delete AFTER DELETE ON public.brands REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION private.notify_sites();
CREATE TRIGGER notify_sites_insert AFTER INSERT ON public.brands REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION private.notify_sites();
CREATE TRIGGER queue_rereads AFTER UPDATE ON public.brands REFERENCING OLD TABLE AS before NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION private.queue_rereads();
CREATE TRIGGER refuse_deleted AFTER INSERT ON public.brands FOR EACH ROW EXECUTE FUNCTION private.refuse_deleted('brand');
CREATE TRIGGER revise BEFORE INSERT OR UPDATE ON public.brands FOR EACH ROW EXECUTE FUNCTION private.revise_brand();
CREATE TRIGGER stamp BEFORE INSERT OR UPDATE ON public.brands FOR EACH ROW EXECUTE FUNCTION private.stamp();
CREATE TRIGGER stay BEFORE UPDATE ON public.brands FOR EACH ROW WHEN (((old.id IS DISTINCT FROM new.id) OR (old.organization_id IS DISTINCT FROM new.organization_id))) EXECUTE FUNCTION private.refuse_move();
CREATE TRIGGER write_changes_delete AFTER DELETE ON public.brands REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION private.write_brand_changes();
CREATE TRIGGER write_changes_insert AFTER INSERT ON public.brands REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION private.write_brand_changes();
CREATE TRIGGER write_changes_update AFTER UPDATE ON public.brands REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION private.write_brand_changes();
ALTER TABLE public.brands ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.brands FORCE ROW LEVEL SECURITY;
CREATE POLICY deletes ON public.brands FOR DELETE TO authenticated USING ((organization_id = ( SELECT private.org_id('member'::text) AS org_id)));
CREATE POLICY inserts ON public.brands FOR INSERT TO authenticated WITH CHECK ((organization_id = ( SELECT private.org_id('member'::text) AS org_id)));
CREATE POLICY reads ON public.brands FOR SELECT TO authenticated USING ((organization_id = ( SELECT private.org_id('viewer'::text) AS org_id)));
CREATE POLICY service ON public.brands FOR ALL TO answerscope_owner, answerscope_service USING (true) WITH CHECK (true);
CREATE POLICY updates ON public.brands FOR UPDATE TO authenticated USING ((organization_id = ( SELECT private.org_id('member'::text) AS org_id)));
GRANT DELETE, INSERT, SELECT, UPDATE ON public.brands TO answerscope_service;
GRANT DELETE, INSERT, SELECT, UPDATE ON public.brands TO authenticated;

-- table public.competitors
CREATE TABLE public.competitors (
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    brand_id uuid NOT NULL,
    organization_id uuid NOT NULL,
    name text NOT NULL,
    aliases text[] NOT NULL DEFAULT '{}'::text[],
    domain text,
    domains text[] NOT NULL DEFAULT '{}'::text[],
    created_at timestamp with time zone NOT NULL DEFAULT now(),
    updated_at timestamp with time zone NOT NULL DEFAULT now(),
    slot smallint,
    CONSTRAINT competitors_pkey PRIMARY KEY (id),
    CONSTRAINT competitors_brand_id_name_key UNIQUE (brand_id, name),
    CONSTRAINT competitors_brand_id_slot_key UNIQUE (brand_id, slot),
    CONSTRAINT competitors_brand_id_fkey FOREIGN KEY (brand_id) REFERENCES brands(id) ON DELETE CASCADE,
    CONSTRAINT competitors_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON DELETE CASCADE,
    CONSTRAINT competitors_aliases_are_words CHECK (private.are_words(aliases)),
    CONSTRAINT competitors_domain_is_first CHECK ((NOT (domain IS DISTINCT FROM domains[1]))),
    CONSTRAINT competitors_domains_are_hosts CHECK (private.are_hosts(domains)),
    CONSTRAINT competitors_name_form CHECK (private.is_name(name)),
    CONSTRAINT competitors_slot_exists CHECK (((slot >= 1) AND (slot <= 8)))
);
ALTER TABLE public.competitors OWNER TO answerscope_owner;
CREATE INDEX competitors_organization_id_idx ON public.competitors USING btree (organization_id);
COMMENT ON TABLE public.competitors IS 'What a brand is compared with.';
COMMENT ON COLUMN public.competitors.organization_id IS 'The brand''s; filled.';
COMMENT ON COLUMN public.competitors.domain IS 'The first of domains. Written alone, it replaces that one; null removes it.';
COMMENT ON COLUMN public.competitors.domains IS 'Hosts as private.domain_of has them, each once; what is written may be any addresses of them.';
COMMENT ON COLUMN public.competitors.slot IS 'Its colour in charts: the lowest that was free when it was added, null where none was; filled.';
CREATE TRIGGER fill BEFORE INSERT ON public.competitors FOR EACH ROW EXECUTE FUNCTION private.fill_from_brand();
CREATE TRIGGER fill_slot BEFORE INSERT OR UPDATE OF slot ON public.competitors FOR EACH ROW EXECUTE FUNCTION private.fill_slot();
CREATE TRIGGER keep_domains BEFORE INSERT OR UPDATE OF domain, domains ON public.competitors FOR EACH ROW EXECUTE FUNCTION private.keep_domains();
CREATE TRIGGER limit_added AFTER INSERT ON public.competitors REFERENCING NEW TABLE AS added FOR EACH STATEMENT WHEN ((CURRENT_USER = 'authenticated'::name)) EXECUTE FUNCTION private.limit_added('10000', 'organization_id', 'an organization has at most 10,000 competitors: delete one first, or ask the operator');
CREATE TRIGGER revise_delete AFTER DELETE ON public.competitors REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION private.revise_brands();
CREATE TRIGGER revise_insert AFTER INSERT ON public.competitors REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION private.revise_brands();
CREATE TRIGGER revise_update AFTER UPDATE ON public.competitors REFERENCING OLD TABLE AS before NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION private.revise_brands_on_update('updated_at');
CREATE TRIGGER stamp BEFORE INSERT OR UPDATE ON public.competitors FOR EACH ROW EXECUTE FUNCTION private.stamp();
CREATE TRIGGER stay BEFORE UPDATE ON public.competitors FOR EACH ROW WHEN ((((old.id IS DISTINCT FROM new.id) OR (old.organization_id IS DISTINCT FROM new.organization_id)) OR (old.brand_id IS DISTINCT FROM new.brand_id))) EXECUTE FUNCTION private.refuse_move();
CREATE TRIGGER write_changes_delete AFTER DELETE ON public.competitors REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION private.write_competitor_changes();
CREATE TRIGGER write_changes_insert AFTER INSERT ON public.competitors REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION private.write_competitor_changes();
CREATE TRIGGER write_changes_update AFTER UPDATE ON public.competitors REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION private.write_competitor_changes();
ALTER TABLE public.competitors ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.competitors FORCE ROW LEVEL SECURITY;
CREATE POLICY deletes ON public.competitors FOR DELETE TO authenticated USING ((organization_id = ( SELECT private.org_id('member'::text) AS org_id)));
CREATE POLICY inserts ON public.competitors FOR INSERT TO authenticated WITH CHECK ((organization_id = ( SELECT private.org_id('member'::text) AS org_id)));
CREATE POLICY reads ON public.competitors FOR SELECT TO authenticated USING ((organization_id = ( SELECT private.org_id('viewer'::text) AS org_id)));
CREATE POLICY service ON public.competitors FOR ALL TO answerscope_owner, answerscope_service USING (true) WITH CHECK (true);
CREATE POLICY updates ON public.competitors FOR UPDATE TO authenticated USING ((organization_id = ( SELECT private.org_id('member'::text) AS org_id)));
GRANT DELETE, INSERT, SELECT, UPDATE ON public.competitors TO answerscope_service;
GRANT DELETE, INSERT, SELECT, UPDATE ON public.competitors TO authenticated;

-- table public.content_briefs
CREATE TABLE public.content_briefs (
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    brand_id uuid NOT NULL,
    organization_id uuid NOT NULL,
    suggestion_id uuid,
    title text NOT NULL,
    body text NOT NULL DEFAULT ''::text,
    evidence jsonb NOT NULL DEFAULT '{}'::jsonb,
    status text NOT NULL DEFAULT 'draft'::text,
    created_at timestamp with time zone NOT NULL DEFAULT now(),
    updated_at timestamp with time zone NOT NULL DEFAULT now(),
    CONSTRAINT content_briefs_pkey PRIMARY KEY (id),
    CONSTRAINT content_briefs_brand_id_fkey FOREIGN KEY (brand_id) REFERENCES brands(id) ON DELETE CASCADE,
    CONSTRAINT content_briefs_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON DELETE CASCADE,
    CONSTRAINT content_briefs_suggestion_id_fkey FOREIGN KEY (suggestion_id) REFERENCES suggestions(id) ON DELETE SET NULL,
    CONSTRAINT content_briefs_body_length CHECK ((octet_length(body) <= 262144)),
    CONSTRAINT content_briefs_evidence_length CHECK ((octet_length((evidence)::text) <= 65536)),
    CONSTRAINT content_briefs_status_is_known CHECK ((status = ANY (ARRAY['draft'::text, 'sent'::text, 'done'::text]))),
    CONSTRAINT content_briefs_title_length CHECK (((octet_length(title) <= 512) AND (btrim(title) <> ''::text)))
);
ALTER TABLE public.content_briefs OWNER TO answerscope_owner;
CREATE INDEX content_briefs_brand_id_idx ON public.content_briefs USING btree (brand_id);
CREATE INDEX content_briefs_organization_id_idx ON public.content_briefs USING btree (organization_id);
CREATE INDEX content_briefs_suggestion_id_idx ON public.content_briefs USING btree (suggestion_id);
COMMENT ON TABLE public.content_briefs IS 'What is to be written so that answers name the brand.';
COMMENT ON COLUMN public.content_briefs.organization_id IS 'The brand''s; filled.';
COMMENT ON COLUMN public.content_briefs.suggestion_id IS 'What it came from, one of the same brand.';
CREATE TRIGGER check_status BEFORE UPDATE ON public.content_briefs FOR EACH ROW WHEN (((old.status <> new.status) AND (((old.status <> 'draft'::text) OR (new.status <> 'sent'::text)) AND ((old.status <> 'sent'::text) OR (new.status <> 'done'::text))))) EXECUTE FUNCTION private.check_brief_status();
CREATE TRIGGER emit_insert AFTER INSERT ON public.content_briefs FOR EACH ROW EXECUTE FUNCTION private.emit_change();
CREATE TRIGGER emit_sent AFTER UPDATE OF status ON public.content_briefs FOR EACH ROW WHEN (((new.status = 'sent'::text) AND (old.status <> 'sent'::text))) EXECUTE FUNCTION private.emit_change();
CREATE TRIGGER fill BEFORE INSERT ON public.content_briefs FOR EACH ROW EXECUTE FUNCTION private.fill_content_brief();
CREATE TRIGGER fill_suggestion BEFORE UPDATE ON public.content_briefs FOR EACH ROW WHEN (((old.suggestion_id IS DISTINCT FROM new.suggestion_id) AND (new.suggestion_id IS NOT NULL))) EXECUTE FUNCTION private.fill_content_brief();
CREATE TRIGGER limit_added AFTER INSERT ON public.content_briefs REFERENCING NEW TABLE AS added FOR EACH STATEMENT WHEN ((CURRENT_USER = 'authenticated'::name)) EXECUTE FUNCTION private.limit_added('2000', 'organization_id', 'an organization has at most 2,000 briefs: delete one first, or ask the operator');
CREATE TRIGGER stamp BEFORE INSERT OR UPDATE ON public.content_briefs FOR EACH ROW EXECUTE FUNCTION private.stamp();
CREATE TRIGGER stay BEFORE UPDATE ON public.content_briefs FOR EACH ROW WHEN ((((old.id IS DISTINCT FROM new.id) OR (old.organization_id IS DISTINCT FROM new.organization_id)) OR (old.brand_id IS DISTINCT FROM new.brand_id))) EXECUTE FUNCTION private.refuse_move();
ALTER TABLE public.content_briefs ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.content_briefs FORCE ROW LEVEL SECURITY;
CREATE POLICY deletes ON public.content_briefs FOR DELETE TO authenticated USING ((organization_id = ( SELECT private.org_id('member'::text) AS org_id)));
CREATE POLICY inserts ON public.content_briefs FOR INSERT TO authenticated WITH CHECK ((organization_id = ( SELECT private.org_id('member'::text) AS org_id)));
CREATE POLICY reads ON public.content_briefs FOR SELECT TO authenticated USING ((organization_id = ( SELECT private.org_id('viewer'::text) AS org_id)));
CREATE POLICY service ON public.content_briefs FOR ALL TO answerscope_owner, answerscope_service USING (true) WITH CHECK (true);
CREATE POLICY updates ON public.content_briefs FOR UPDATE TO authenticated USING ((organization_id = ( SELECT private.org_id('member'::text) AS org_id)));
GRANT DELETE, INSERT, SELECT, UPDATE ON public.content_briefs TO answerscope_service;
GRANT DELETE, INSERT, SELECT, UPDATE ON public.content_briefs TO authenticated;

-- table public.events
CREATE TABLE public.events (
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    organization_id uuid NOT NULL,
    brand_id uuid,
    type text NOT NULL,
    data jsonb NOT NULL,
    key text,
    admin_only boolean NOT NULL,
    at timestamp with time zone NOT NULL DEFAULT now(),
    CONSTRAINT events_pkey PRIMARY KEY (id),
    CONSTRAINT events_organization_id_key_key UNIQUE (organization_id, key),
    CONSTRAINT events_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON DELETE CASCADE,
    CONSTRAINT events_key_length CHECK ((octet_length(key) <= 512)),
    CONSTRAINT events_type_is_known CHECK (private.check_events(ARRAY[type]))
);
ALTER TABLE public.events OWNER TO answerscope_owner;
CREATE INDEX events_at_idx ON public.events USING btree (at);
CREATE INDEX events_organization_id_at_idx ON public.events USING btree (organization_id, at DESC, id DESC);
COMMENT ON TABLE public.events IS 'What happened, for 90 days.';
COMMENT ON COLUMN public.events.brand_id IS 'Null: it is about the organization. Of a deleted brand there is brand.deleted alone.';
COMMENT ON COLUMN public.events.key IS 'By which an event that was computed is added once; null: a change.';
COMMENT ON COLUMN public.events.admin_only IS 'Whether only admins see it.';
COMMENT ON COLUMN public.events.at IS 'When it happened. Events may appear later, out of order: a reader overlaps by a minute.';
CREATE TRIGGER add_deliveries AFTER INSERT ON public.events FOR EACH ROW WHEN ((new.type <> 'webhook.test'::text)) EXECUTE FUNCTION private.add_deliveries();
CREATE TRIGGER add_mails AFTER INSERT ON public.events FOR EACH ROW EXECUTE FUNCTION private.add_mails();
ALTER TABLE public.events ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.events FORCE ROW LEVEL SECURITY;
CREATE POLICY reads ON public.events FOR SELECT TO authenticated USING (((organization_id = ( SELECT private.org_id() AS org_id)) AND ((NOT admin_only) OR (organization_id = ( SELECT private.org_id('admin'::text) AS org_id)))));
CREATE POLICY service ON public.events FOR ALL TO answerscope_owner, answerscope_service USING (true) WITH CHECK (true);
GRANT DELETE, SELECT ON public.events TO answerscope_service;
GRANT SELECT ON public.events TO authenticated;

-- table public.invitations
CREATE TABLE public.invitations (
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    organization_id uuid NOT NULL,
    email private.citext NOT NULL,
    role text NOT NULL,
    invited_by uuid,
    created_at timestamp with time zone NOT NULL DEFAULT now(),
    expires_at timestamp with time zone NOT NULL DEFAULT (now() + '7 days'::interval),
    accepted_at timestamp with time zone,
    revoked_at timestamp with time zone,
    CONSTRAINT invitations_pkey PRIMARY KEY (id),
    CONSTRAINT invitations_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON DELETE CASCADE,
    CONSTRAINT invitations_email_form CHECK (((octet_length((email)::text) <= 320) AND ((email)::text ~ '^[^@[:space:]]+@[^@[:space:]]+$'::text))),
    CONSTRAINT invitations_role_is_known CHECK ((role = ANY (ARRAY['owner'::text, 'admin'::text, 'member'::text, 'viewer'::text])))
);
ALTER TABLE public.invitations OWNER TO answerscope_owner;
CREATE INDEX invitations_organization_id_idx ON public.invitations USING btree (organization_id, created_at DESC);
COMMENT ON TABLE public.invitations IS 'Who was invited to an organization. Made by /api/invitations: the link is shown once.';
COMMENT ON COLUMN public.invitations.invited_by IS 'A user, without whose membership and rank it does not work; null: the command line.';
CREATE TRIGGER limit_rows BEFORE INSERT ON public.invitations FOR EACH ROW EXECUTE FUNCTION private.limit_rows('50', 'an organization has at most 50 open invitations: revoke one first', 'r.organization_id = ($1).organization_id AND r.email OPERATOR(private.<>) ($1).email
         AND r.accepted_at IS NULL AND r.revoked_at IS NULL AND r.expires_at > now()');
CREATE TRIGGER log_audit AFTER INSERT OR UPDATE OF accepted_at, revoked_at ON public.invitations FOR EACH ROW EXECUTE FUNCTION private.log_invitation();
ALTER TABLE public.invitations ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.invitations FORCE ROW LEVEL SECURITY;
CREATE POLICY reads ON public.invitations FOR SELECT TO authenticated USING ((organization_id = ( SELECT private.org_id('admin'::text) AS org_id)));
CREATE POLICY service ON public.invitations FOR ALL TO answerscope_owner, answerscope_service USING (true) WITH CHECK (true);
GRANT DELETE, INSERT, SELECT, UPDATE ON public.invitations TO answerscope_service;
GRANT SELECT ON public.invitations TO authenticated;

-- table public.members
CREATE TABLE public.members (
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    organization_id uuid NOT NULL,
    user_id uuid NOT NULL,
    role text NOT NULL DEFAULT 'member'::text,
    created_at timestamp with time zone NOT NULL DEFAULT now(),
    updated_at timestamp with time zone NOT NULL DEFAULT now(),
    CONSTRAINT members_pkey PRIMARY KEY (id),
    CONSTRAINT members_user_id_key UNIQUE (user_id),
    CONSTRAINT members_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON DELETE CASCADE,
    CONSTRAINT members_user_id_fkey FOREIGN KEY (user_id) REFERENCES private.users(id) ON DELETE CASCADE,
    CONSTRAINT members_role_is_known CHECK ((role = ANY (ARRAY['owner'::text, 'admin'::text, 'member'::text, 'viewer'::text])))
);
ALTER TABLE public.members OWNER TO answerscope_owner;
CREATE INDEX members_organization_id_idx ON public.members USING btree (organization_id);
COMMENT ON TABLE public.members IS 'Users with their organization and role. A user has one organization.';
COMMENT ON COLUMN public.members.organization_id IS 'The caller''s when missing.';
CREATE TRIGGER emit AFTER INSERT OR DELETE ON public.members FOR EACH ROW EXECUTE FUNCTION private.emit_change();
CREATE TRIGGER emit_role AFTER UPDATE OF role ON public.members FOR EACH ROW WHEN ((new.role <> old.role)) EXECUTE FUNCTION private.emit_change();
CREATE TRIGGER end_access AFTER DELETE ON public.members FOR EACH ROW EXECUTE FUNCTION private.end_access();
CREATE TRIGGER fill BEFORE INSERT ON public.members FOR EACH ROW WHEN ((new.organization_id IS NULL)) EXECUTE FUNCTION private.fill_organization();
CREATE TRIGGER keep_an_owner AFTER DELETE OR UPDATE OF role ON public.members FOR EACH ROW WHEN ((old.role = 'owner'::text)) EXECUTE FUNCTION private.keep_an_owner();
CREATE TRIGGER log_audit AFTER INSERT OR DELETE OR UPDATE OF role ON public.members FOR EACH ROW EXECUTE FUNCTION private.log_audit_of_row();
CREATE TRIGGER stamp BEFORE INSERT OR UPDATE ON public.members FOR EACH ROW EXECUTE FUNCTION private.stamp();
CREATE TRIGGER stay BEFORE UPDATE ON public.members FOR EACH ROW WHEN ((((old.id IS DISTINCT FROM new.id) OR (old.organization_id IS DISTINCT FROM new.organization_id)) OR (old.user_id IS DISTINCT FROM new.user_id))) EXECUTE FUNCTION private.refuse_move();
ALTER TABLE public.members ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.members FORCE ROW LEVEL SECURITY;
CREATE POLICY deletes ON public.members FOR DELETE TO authenticated USING ((((organization_id = ( SELECT private.org_id() AS org_id)) AND (user_id = ( SELECT private.user_id() AS user_id))) OR ((organization_id = ( SELECT private.org_id('admin'::text) AS org_id)) AND (private.rank(role) <= ( SELECT private.caller_rank() AS caller_rank)))));
CREATE POLICY inserts ON public.members FOR INSERT TO authenticated WITH CHECK (((organization_id = ( SELECT private.org_id('admin'::text) AS org_id)) AND (private.rank(role) <= ( SELECT private.caller_rank() AS caller_rank))));
CREATE POLICY reads ON public.members FOR SELECT TO authenticated USING ((organization_id = ( SELECT private.org_id() AS org_id)));
CREATE POLICY service ON public.members FOR ALL TO answerscope_owner, answerscope_service USING (true) WITH CHECK (true);
CREATE POLICY updates ON public.members FOR UPDATE TO authenticated USING (((organization_id = ( SELECT private.org_id('admin'::text) AS org_id)) AND (private.rank(role) <= ( SELECT private.caller_rank() AS caller_rank)))) WITH CHECK (((organization_id = ( SELECT private.org_id('admin'::text) AS org_id)) AND (private.rank(role) <= ( SELECT private.caller_rank() AS caller_rank))));
GRANT DELETE, INSERT, SELECT, UPDATE ON public.members TO answerscope_service;
GRANT DELETE, INSERT, SELECT, UPDATE ON public.members TO authenticated;

-- table public.organizations
CREATE TABLE public.organizations (
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    name text NOT NULL,
    slug text NOT NULL,
    time_zone text NOT NULL DEFAULT 'UTC'::text,
    created_at timestamp with time zone NOT NULL DEFAULT now(),
    updated_at timestamp with time zone NOT NULL DEFAULT now(),
    CONSTRAINT organizations_pkey PRIMARY KEY (id),
    CONSTRAINT organizations_slug_key UNIQUE (slug),
    CONSTRAINT organizations_name_form CHECK (private.is_name(name)),
    CONSTRAINT organizations_slug_form CHECK (private.is_slug(slug)),
    CONSTRAINT organizations_time_zone_is_known CHECK ((('1970-01-01 00:00:00+00'::timestamp with time zone AT TIME ZONE time_zone) IS NOT NULL))
);
ALTER TABLE public.organizations OWNER TO answerscope_owner;
COMMENT ON TABLE public.organizations IS 'Owns everything else.';
COMMENT ON COLUMN public.organizations.slug IS 'Its name in addresses; made from the name when missing.';
CREATE TRIGGER add_tombstone AFTER DELETE ON public.organizations FOR EACH ROW EXECUTE FUNCTION private.add_organization_tombstone();
CREATE TRIGGER fill_slug BEFORE INSERT ON public.organizations FOR EACH ROW WHEN ((COALESCE(new.slug, ''::text) = ''::text)) EXECUTE FUNCTION private.fill_organization_slug();
CREATE TRIGGER log_audit AFTER INSERT OR DELETE OR UPDATE OF name, time_zone ON public.organizations FOR EACH ROW EXECUTE FUNCTION private.log_audit_of_row();
CREATE TRIGGER refuse_deleted AFTER INSERT ON public.organizations FOR EACH ROW EXECUTE FUNCTION private.refuse_deleted('organization');
CREATE TRIGGER stamp BEFORE UPDATE ON public.organizations FOR EACH ROW EXECUTE FUNCTION private.stamp();
CREATE TRIGGER stay BEFORE UPDATE ON public.organizations FOR EACH ROW WHEN ((old.id <> new.id)) EXECUTE FUNCTION private.refuse_move();
ALTER TABLE public.organizations ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.organizations FORCE ROW LEVEL SECURITY;
CREATE POLICY reads ON public.organizations FOR SELECT TO authenticated USING ((id = ( SELECT private.org_id() AS org_id)));
CREATE POLICY service ON public.organizations FOR ALL TO answerscope_owner, answerscope_service USING (true) WITH CHECK (true);
CREATE POLICY updates ON public.organizations FOR UPDATE TO authenticated USING ((id = ( SELECT private.org_id('admin'::text) AS org_id))) WITH CHECK ((id = ( SELECT private.org_id('admin'::text) AS org_id)));
GRANT DELETE, INSERT, SELECT, UPDATE ON public.organizations TO answerscope_service;
GRANT SELECT ON public.organizations TO authenticated;
GRANT UPDATE (name, time_zone) ON public.organizations TO authenticated;

-- table public.prompt_results
CREATE TABLE public.prompt_results (
    id uuid NOT NULL,
    prompt_id uuid NOT NULL,
    brand_id uuid NOT NULL,
    organization_id uuid NOT NULL,
    platform text NOT NULL,
    model_used text NOT NULL,
    served_model text,
    provider text,
    region text NOT NULL,
    sample bigint NOT NULL,
    finish text,
    response text NOT NULL,
    citations jsonb NOT NULL,
    mention_count integer NOT NULL,
    citation_count integer NOT NULL,
    mention_position integer,
    sentiment text NOT NULL,
    visibility_score integer,
    competitor_mentions jsonb NOT NULL,
    search_queries jsonb NOT NULL,
    job_id uuid,
    revision bigint NOT NULL,
    extract_version integer NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL DEFAULT now(),
    CONSTRAINT prompt_results_pkey PRIMARY KEY (id),
    CONSTRAINT prompt_results_brand_id_fkey FOREIGN KEY (brand_id) REFERENCES brands(id) ON DELETE CASCADE,
    CONSTRAINT prompt_results_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON DELETE CASCADE,
    CONSTRAINT prompt_results_prompt_id_fkey FOREIGN KEY (prompt_id) REFERENCES prompts(id) ON DELETE CASCADE,
    CONSTRAINT prompt_results_finish_is_known CHECK ((finish = ANY (ARRAY['complete'::text, 'truncated'::text, 'content_filtered'::text, 'not_shown'::text]))),
    CONSTRAINT prompt_results_model_used_length CHECK ((octet_length(model_used) <= 2048)),
    CONSTRAINT prompt_results_platform_length CHECK ((octet_length(platform) <= 512)),
    CONSTRAINT prompt_results_provider_length CHECK ((octet_length(provider) <= 64)),
    CONSTRAINT prompt_results_region_length CHECK ((octet_length(region) <= 512)),
    CONSTRAINT prompt_results_response_length CHECK ((octet_length(response) <= 8388608)),
    CONSTRAINT prompt_results_sentiment_is_known CHECK ((sentiment = ANY (ARRAY['positive'::text, 'neutral'::text, 'negative'::text, 'unknown'::text]))),
    CONSTRAINT prompt_results_served_model_length CHECK ((octet_length(served_model) <= 2048))
);
ALTER TABLE public.prompt_results OWNER TO answerscope_owner;
CREATE INDEX prompt_results_brand_id_idx ON public.prompt_results USING btree (brand_id, created_at DESC, id DESC) INCLUDE (extract_version);
CREATE INDEX prompt_results_organization_id_idx ON public.prompt_results USING btree (organization_id);
CREATE INDEX prompt_results_prompt_id_idx ON public.prompt_results USING btree (prompt_id, platform, created_at DESC, id DESC) INCLUDE (organization_id);
COMMENT ON TABLE public.prompt_results IS 'One row an answer: what it says, and its reading.';
COMMENT ON COLUMN public.prompt_results.id IS 'The id of the answer.';
COMMENT ON COLUMN public.prompt_results.model_used IS 'The requested model; empty where none was asked for.';
COMMENT ON COLUMN public.prompt_results.served_model IS 'What the platform says answered; null where it does not say.';
COMMENT ON COLUMN public.prompt_results.provider IS 'Who captured the surface; null where the platform was asked itself.';
COMMENT ON COLUMN public.prompt_results.region IS 'Empty where none was asked for.';
COMMENT ON COLUMN public.prompt_results.finish IS 'How the text ended; not_shown: the surface was seen and had no answer, which counts in no rate; null: unknown.';
COMMENT ON COLUMN public.prompt_results.citations IS 'A list of {url, title, cited, type}, each URL once; of those that are not cited but consulted, cited is false.';
COMMENT ON COLUMN public.prompt_results.citation_count IS 'Citations of the brand''s own domains.';
COMMENT ON COLUMN public.prompt_results.mention_position IS '1 + how many other tracked entities are named earlier; null when the brand is not named.';
COMMENT ON COLUMN public.prompt_results.visibility_score IS 'The legacy intensity, 0 to 100; null where the surface had no answer.';
COMMENT ON COLUMN public.prompt_results.competitor_mentions IS 'A list of {competitor_id, name, mention_count, citation_count, visibility_score, mention_position}, of all competitors.';
COMMENT ON COLUMN public.prompt_results.search_queries IS 'A list of texts.';
COMMENT ON COLUMN public.prompt_results.revision IS 'The brand''s revision whose names it is read by.';
COMMENT ON COLUMN public.prompt_results.extract_version IS 'The version of the extractor that read it.';
COMMENT ON COLUMN public.prompt_results.created_at IS 'When it was answered.';
COMMENT ON COLUMN public.prompt_results.updated_at IS 'When the row was written, or last read again.';
CREATE TRIGGER stamp BEFORE UPDATE ON public.prompt_results FOR EACH ROW EXECUTE FUNCTION private.stamp();
ALTER TABLE public.prompt_results ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.prompt_results FORCE ROW LEVEL SECURITY;
CREATE POLICY reads ON public.prompt_results FOR SELECT TO authenticated USING ((organization_id = ( SELECT private.org_id('viewer'::text) AS org_id)));
CREATE POLICY service ON public.prompt_results FOR ALL TO answerscope_owner, answerscope_service USING (true) WITH CHECK (true);
GRANT DELETE, INSERT, SELECT, UPDATE ON public.prompt_results TO answerscope_service;
GRANT SELECT ON public.prompt_results TO authenticated;

-- table public.prompt_sets
CREATE TABLE public.prompt_sets (
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    brand_id uuid NOT NULL,
    organization_id uuid NOT NULL,
    name text NOT NULL,
    is_active boolean NOT NULL DEFAULT true,
    created_at timestamp with time zone NOT NULL DEFAULT now(),
    updated_at timestamp with time zone NOT NULL DEFAULT now(),
    CONSTRAINT prompt_sets_pkey PRIMARY KEY (id),
    CONSTRAINT prompt_sets_brand_id_fkey FOREIGN KEY (brand_id) REFERENCES brands(id) ON DELETE CASCADE,
    CONSTRAINT prompt_sets_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON DELETE CASCADE,
    CONSTRAINT prompt_sets_name_form CHECK (private.is_name(name))
);
ALTER TABLE public.prompt_sets OWNER TO answerscope_owner;
CREATE INDEX prompt_sets_brand_id_idx ON public.prompt_sets USING btree (brand_id);
CREATE INDEX prompt_sets_organization_id_idx ON public.prompt_sets USING btree (organization_id);
COMMENT ON TABLE public.prompt_sets IS 'Prompts that are kept together.';
COMMENT ON COLUMN public.prompt_sets.organization_id IS 'The brand''s; filled.';
CREATE TRIGGER fill BEFORE INSERT ON public.prompt_sets FOR EACH ROW EXECUTE FUNCTION private.fill_from_brand();
CREATE TRIGGER stamp BEFORE INSERT OR UPDATE ON public.prompt_sets FOR EACH ROW EXECUTE FUNCTION private.stamp();
CREATE TRIGGER stay BEFORE UPDATE ON public.prompt_sets FOR EACH ROW WHEN ((((old.id IS DISTINCT FROM new.id) OR (old.organization_id IS DISTINCT FROM new.organization_id)) OR (old.brand_id IS DISTINCT FROM new.brand_id))) EXECUTE FUNCTION private.refuse_move();
ALTER TABLE public.prompt_sets ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.prompt_sets FORCE ROW LEVEL SECURITY;
CREATE POLICY deletes ON public.prompt_sets FOR DELETE TO authenticated USING ((organization_id = ( SELECT private.org_id('member'::text) AS org_id)));
CREATE POLICY inserts ON public.prompt_sets FOR INSERT TO authenticated WITH CHECK ((organization_id = ( SELECT private.org_id('member'::text) AS org_id)));
CREATE POLICY reads ON public.prompt_sets FOR SELECT TO authenticated USING ((organization_id = ( SELECT private.org_id('viewer'::text) AS org_id)));
CREATE POLICY service ON public.prompt_sets FOR ALL TO answerscope_owner, answerscope_service USING (true) WITH CHECK (true);
CREATE POLICY updates ON public.prompt_sets FOR UPDATE TO authenticated USING ((organization_id = ( SELECT private.org_id('member'::text) AS org_id)));
GRANT DELETE, INSERT, SELECT, UPDATE ON public.prompt_sets TO answerscope_service;
GRANT DELETE, INSERT, SELECT, UPDATE ON public.prompt_sets TO authenticated;

-- table public.prompts
CREATE TABLE public.prompts (
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    prompt_set_id uuid NOT NULL,
    brand_id uuid NOT NULL,
    topic_id uuid,
    organization_id uuid NOT NULL,
    text text NOT NULL,
    category text,
    platforms text[] NOT NULL DEFAULT '{}'::text[],
    models text[] NOT NULL DEFAULT '{}'::text[],
    regions text[] NOT NULL DEFAULT '{}'::text[],
    samples integer NOT NULL DEFAULT 1,
    is_branded boolean,
    is_active boolean NOT NULL DEFAULT true,
    created_at timestamp with time zone NOT NULL DEFAULT now(),
    updated_at timestamp with time zone NOT NULL DEFAULT now(),
    CONSTRAINT prompts_pkey PRIMARY KEY (id),
    CONSTRAINT prompts_brand_id_fkey FOREIGN KEY (brand_id) REFERENCES brands(id) ON DELETE CASCADE,
    CONSTRAINT prompts_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON DELETE CASCADE,
    CONSTRAINT prompts_prompt_set_id_fkey FOREIGN KEY (prompt_set_id) REFERENCES prompt_sets(id) ON DELETE CASCADE,
    CONSTRAINT prompts_topic_id_fkey FOREIGN KEY (topic_id) REFERENCES topics(id) ON DELETE SET NULL,
    CONSTRAINT prompts_category_length CHECK ((char_length(category) <= 200)),
    CONSTRAINT prompts_models_are_words CHECK (private.are_words(models)),
    CONSTRAINT prompts_platforms_are_words CHECK (private.are_words(platforms)),
    CONSTRAINT prompts_regions_are_words CHECK (private.are_words(regions)),
    CONSTRAINT prompts_samples_range CHECK (((samples >= 1) AND (samples <= 10))),
    CONSTRAINT prompts_text_length CHECK (((octet_length(text) >= 1) AND (octet_length(text) <= 32768)))
);
ALTER TABLE public.prompts OWNER TO answerscope_owner;
CREATE INDEX prompts_brand_id_text_idx ON public.prompts USING btree (brand_id, hashtextextended(text, (0)::bigint));
CREATE INDEX prompts_organization_id_idx ON public.prompts USING btree (organization_id);
CREATE INDEX prompts_prompt_set_id_idx ON public.prompts USING btree (prompt_set_id);
CREATE INDEX prompts_topic_id_idx ON public.prompts USING btree (topic_id);
COMMENT ON TABLE public.prompts IS 'What AI platforms are asked for a brand.';
COMMENT ON COLUMN public.prompts.brand_id IS 'The prompt set''s; filled when missing.';
COMMENT ON COLUMN public.prompts.organization_id IS 'The brand''s; filled.';
COMMENT ON COLUMN public.prompts.platforms IS 'Empty: the brand''s.';
COMMENT ON COLUMN public.prompts.models IS 'Empty: the brand''s.';
COMMENT ON COLUMN public.prompts.regions IS 'Empty: the brand''s.';
COMMENT ON COLUMN public.prompts.samples IS 'How often it is asked each time.';
COMMENT ON COLUMN public.prompts.is_branded IS 'Null: decided by whether the text names the brand.';
CREATE TRIGGER fill BEFORE INSERT ON public.prompts FOR EACH ROW EXECUTE FUNCTION private.fill_from_prompt_set();
CREATE TRIGGER fill_moved BEFORE UPDATE ON public.prompts FOR EACH ROW WHEN (((old.prompt_set_id <> new.prompt_set_id) OR ((old.topic_id IS DISTINCT FROM new.topic_id) AND (new.topic_id IS NOT NULL)))) EXECUTE FUNCTION private.fill_from_prompt_set();
CREATE TRIGGER limit_added AFTER INSERT ON public.prompts REFERENCING NEW TABLE AS added FOR EACH STATEMENT WHEN ((CURRENT_USER = 'authenticated'::name)) EXECUTE FUNCTION private.limit_added('50000', 'organization_id', 'an organization has at most 50,000 prompts: delete one first, or ask the operator');
CREATE TRIGGER log_audit AFTER DELETE ON public.prompts REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT EXECUTE FUNCTION private.log_deleted_prompts();
CREATE TRIGGER stamp BEFORE INSERT OR UPDATE ON public.prompts FOR EACH ROW EXECUTE FUNCTION private.stamp();
CREATE TRIGGER stay BEFORE UPDATE ON public.prompts FOR EACH ROW WHEN ((((old.id IS DISTINCT FROM new.id) OR (old.organization_id IS DISTINCT FROM new.organization_id)) OR (old.brand_id IS DISTINCT FROM new.brand_id))) EXECUTE FUNCTION private.refuse_move();
CREATE TRIGGER write_changes_delete AFTER DELETE ON public.prompts REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION private.write_prompt_changes();
CREATE TRIGGER write_changes_insert AFTER INSERT ON public.prompts REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION private.write_prompt_changes();
CREATE TRIGGER write_changes_update AFTER UPDATE ON public.prompts REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION private.write_prompt_changes();
ALTER TABLE public.prompts ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.prompts FORCE ROW LEVEL SECURITY;
CREATE POLICY deletes ON public.prompts FOR DELETE TO authenticated USING ((organization_id = ( SELECT private.org_id('member'::text) AS org_id)));
CREATE POLICY inserts ON public.prompts FOR INSERT TO authenticated WITH CHECK ((organization_id = ( SELECT private.org_id('member'::text) AS org_id)));
CREATE POLICY reads ON public.prompts FOR SELECT TO authenticated USING ((organization_id = ( SELECT private.org_id('viewer'::text) AS org_id)));
CREATE POLICY service ON public.prompts FOR ALL TO answerscope_owner, answerscope_service USING (true) WITH CHECK (true);
CREATE POLICY updates ON public.prompts FOR UPDATE TO authenticated USING ((organization_id = ( SELECT private.org_id('member'::text) AS org_id)));
GRANT DELETE, INSERT, SELECT, UPDATE ON public.prompts TO answerscope_service;
GRANT DELETE, INSERT, SELECT, UPDATE ON public.prompts TO authenticated;

-- table public.share_links
CREATE TABLE public.share_links (
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    organization_id uuid NOT NULL,
    brand_id uuid NOT NULL,
    created_by uuid,
    title text NOT NULL,
    screens text[] NOT NULL,
    filters jsonb NOT NULL DEFAULT '{}'::jsonb,
    embed_origins text[] NOT NULL DEFAULT '{}'::text[],
    has_password boolean NOT NULL DEFAULT false,
    expires_at timestamp with time zone,
    revoked_at timestamp with time zone,
    last_used_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL DEFAULT now(),
    updated_at timestamp with time zone NOT NULL DEFAULT now(),
    CONSTRAINT share_links_pkey PRIMARY KEY (id),
    CONSTRAINT share_links_brand_id_fkey FOREIGN KEY (brand_id) REFERENCES brands(id) ON DELETE CASCADE,
    CONSTRAINT share_links_created_by_fkey FOREIGN KEY (created_by) REFERENCES private.users(id) ON DELETE SET NULL,
    CONSTRAINT share_links_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON DELETE CASCADE,
    CONSTRAINT share_links_embed_origins_are_origins CHECK (((cardinality(embed_origins) <= 5) AND (array_to_string(embed_origins, ' '::text, '-'::text) ~ '^(https://[a-z0-9.-]+(:[0-9]+)?( |$))*$'::text))),
    CONSTRAINT share_links_filters_is_object CHECK ((jsonb_typeof(filters) = 'object'::text)),
    CONSTRAINT share_links_password_is_not_embedded CHECK (((NOT has_password) OR (embed_origins = '{}'::text[]))),
    CONSTRAINT share_links_screens_are_known CHECK (((screens <> '{}'::text[]) AND (screens <@ '{overview,competitors,sources,prompts,traffic,shopping,answers}'::text[]))),
    CONSTRAINT share_links_title_form CHECK (private.is_name(title))
);
ALTER TABLE public.share_links OWNER TO answerscope_owner;
CREATE INDEX share_links_brand_id_idx ON public.share_links USING btree (brand_id);
CREATE INDEX share_links_created_by_idx ON public.share_links USING btree (created_by);
CREATE INDEX share_links_organization_id_idx ON public.share_links USING btree (organization_id);
COMMENT ON TABLE public.share_links IS 'By whoever has one, some screens of a brand are read without an account. Made and revoked by /api/shares: an address is shown once.';
COMMENT ON COLUMN public.share_links.filters IS 'Parameters of /api/v1 that it fixes; last_days: a window that ends today.';
COMMENT ON COLUMN public.share_links.embed_origins IS 'Whose pages may show it in a frame.';
COMMENT ON COLUMN public.share_links.expires_at IS 'Null: never.';
COMMENT ON COLUMN public.share_links.last_used_at IS 'To the hour.';
CREATE TRIGGER fill BEFORE INSERT ON public.share_links FOR EACH ROW EXECUTE FUNCTION private.fill_from_brand();
CREATE TRIGGER limit_rows BEFORE INSERT ON public.share_links FOR EACH ROW EXECUTE FUNCTION private.limit_rows('50', 'a brand has at most 50 share links that work: revoke one first', 'r.brand_id = ($1).brand_id AND r.revoked_at IS NULL AND coalesce(r.expires_at > now(), true)');
CREATE TRIGGER log_audit AFTER INSERT ON public.share_links FOR EACH ROW EXECUTE FUNCTION private.log_share_link();
CREATE TRIGGER log_audit_revoked AFTER UPDATE OF revoked_at ON public.share_links FOR EACH ROW WHEN (((old.revoked_at IS NULL) AND (new.revoked_at IS NOT NULL))) EXECUTE FUNCTION private.log_share_link();
CREATE TRIGGER stamp BEFORE INSERT OR UPDATE ON public.share_links FOR EACH ROW EXECUTE FUNCTION private.stamp();
ALTER TABLE public.share_links ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.share_links FORCE ROW LEVEL SECURITY;
CREATE POLICY reads ON public.share_links FOR SELECT TO authenticated USING ((organization_id = ( SELECT private.org_id('member'::text) AS org_id)));
CREATE POLICY service ON public.share_links FOR ALL TO answerscope_owner, answerscope_service USING (true) WITH CHECK (true);
GRANT DELETE, INSERT, SELECT, UPDATE ON public.share_links TO answerscope_service;
GRANT SELECT ON public.share_links TO authenticated;

-- table public.subscriptions
CREATE TABLE public.subscriptions (
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    organization_id uuid NOT NULL,
    brand_id uuid,
    user_id uuid,
    address private.citext,
    events text[] NOT NULL DEFAULT private.mailed_events(),
    drops_only boolean NOT NULL DEFAULT true,
    confirmed_at timestamp with time zone,
    stopped_at timestamp with time zone,
    stopped_reason text,
    last_sent_at timestamp with time zone,
    started_at timestamp with time zone NOT NULL DEFAULT now(),
    created_at timestamp with time zone NOT NULL DEFAULT now(),
    CONSTRAINT subscriptions_pkey PRIMARY KEY (id),
    CONSTRAINT subscriptions_receiver_key UNIQUE NULLS NOT DISTINCT (organization_id, brand_id, user_id, address),
    CONSTRAINT subscriptions_brand_id_fkey FOREIGN KEY (brand_id) REFERENCES brands(id) ON DELETE CASCADE,
    CONSTRAINT subscriptions_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON DELETE CASCADE,
    CONSTRAINT subscriptions_user_id_fkey FOREIGN KEY (user_id) REFERENCES private.users(id) ON DELETE CASCADE,
    CONSTRAINT subscriptions_address_form CHECK (((octet_length((address)::text) <= 320) AND ((address)::text ~ '^[^@[:space:][:cntrl:],;<>]+@[^@[:space:][:cntrl:],;<>]+$'::text))),
    CONSTRAINT subscriptions_events_are_known CHECK (private.check_events(events, private.mailed_events())),
    CONSTRAINT subscriptions_receiver_is_one CHECK (((user_id IS NULL) <> (address IS NULL))),
    CONSTRAINT subscriptions_stopped_reason_is_known CHECK ((stopped_reason = ANY (ARRAY['unsubscribed'::text, 'refused'::text])))
);
ALTER TABLE public.subscriptions OWNER TO answerscope_owner;
CREATE INDEX subscriptions_brand_id_idx ON public.subscriptions USING btree (brand_id);
CREATE INDEX subscriptions_user_id_idx ON public.subscriptions USING btree (user_id);
COMMENT ON TABLE public.subscriptions IS 'Whom events are mailed to: a user, or an address.';
COMMENT ON COLUMN public.subscriptions.brand_id IS 'Null: every brand of the organization.';
COMMENT ON COLUMN public.subscriptions.user_id IS 'The user who subscribed; filled. Null: it is an address.';
COMMENT ON COLUMN public.subscriptions.events IS 'The types that are mailed; an empty list is filled with all.';
COMMENT ON COLUMN public.subscriptions.drops_only IS 'Whether visibility.moved is mailed only when something fell or has recovered.';
COMMENT ON COLUMN public.subscriptions.confirmed_at IS 'Of an address: it gets nothing before.';
COMMENT ON COLUMN public.subscriptions.stopped_at IS 'Nothing is mailed any more; null starts again.';
COMMENT ON COLUMN public.subscriptions.started_at IS 'When it was made, or last started again.';
CREATE TRIGGER fill BEFORE INSERT OR UPDATE ON public.subscriptions FOR EACH ROW EXECUTE FUNCTION private.fill_subscription();
CREATE TRIGGER limit_rows BEFORE INSERT ON public.subscriptions FOR EACH ROW WHEN ((new.address IS NOT NULL)) EXECUTE FUNCTION private.limit_rows('20', 'a brand has at most 20 addresses: remove one first', 'r.organization_id = ($1).organization_id AND r.brand_id IS NOT DISTINCT FROM ($1).brand_id AND r.address IS NOT NULL');
CREATE TRIGGER log_audit AFTER INSERT OR DELETE ON public.subscriptions FOR EACH ROW EXECUTE FUNCTION private.log_subscription();
ALTER TABLE public.subscriptions ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.subscriptions FORCE ROW LEVEL SECURITY;
CREATE POLICY deletes ON public.subscriptions FOR DELETE TO authenticated USING ((organization_id = ( SELECT private.org_id('admin'::text) AS org_id)));
CREATE POLICY own ON public.subscriptions FOR ALL TO authenticated USING (((organization_id = ( SELECT private.org_id() AS org_id)) AND (user_id = ( SELECT private.user_id() AS user_id))));
CREATE POLICY reads ON public.subscriptions FOR SELECT TO authenticated USING ((organization_id = ( SELECT private.org_id('admin'::text) AS org_id)));
CREATE POLICY service ON public.subscriptions FOR ALL TO answerscope_owner, answerscope_service USING (true) WITH CHECK (true);
GRANT DELETE, INSERT, SELECT, UPDATE ON public.subscriptions TO answerscope_service;
GRANT DELETE, SELECT ON public.subscriptions TO authenticated;
GRANT INSERT (brand_id, events, drops_only) ON public.subscriptions TO authenticated;
GRANT UPDATE (events, drops_only, stopped_at) ON public.subscriptions TO authenticated;

-- table public.suggestions
CREATE TABLE public.suggestions (
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    brand_id uuid NOT NULL,
    organization_id uuid NOT NULL,
    kind text NOT NULL,
    text text NOT NULL,
    reason text,
    evidence jsonb NOT NULL DEFAULT '{}'::jsonb,
    status text NOT NULL DEFAULT 'new'::text,
    added_prompt_id uuid,
    expires_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL DEFAULT now(),
    updated_at timestamp with time zone NOT NULL DEFAULT now(),
    key text NOT NULL DEFAULT ''::text,
    score numeric,
    origin text NOT NULL DEFAULT 'person'::text,
    computed_at timestamp with time zone,
    dismissed_at timestamp with time zone,
    dismissed_score numeric,
    CONSTRAINT suggestions_pkey PRIMARY KEY (id),
    CONSTRAINT suggestions_brand_id_kind_text_key_key UNIQUE (brand_id, kind, text, key),
    CONSTRAINT suggestions_added_prompt_id_fkey FOREIGN KEY (added_prompt_id) REFERENCES prompts(id) ON DELETE SET NULL,
    CONSTRAINT suggestions_brand_id_fkey FOREIGN KEY (brand_id) REFERENCES brands(id) ON DELETE CASCADE,
    CONSTRAINT suggestions_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON DELETE CASCADE,
    CONSTRAINT suggestions_evidence_length CHECK ((octet_length((evidence)::text) <= 65536)),
    CONSTRAINT suggestions_key_is_computed CHECK (((key <> ''::text) = (origin = 'computed'::text))),
    CONSTRAINT suggestions_key_length CHECK ((octet_length(key) <= 512)),
    CONSTRAINT suggestions_kind_is_known CHECK ((kind = ANY (ARRAY['prompt'::text, 'topic'::text, 'gap'::text, 'source'::text, 'competitor'::text, 'page'::text, 'theme'::text, 'alias'::text]))),
    CONSTRAINT suggestions_origin_is_known CHECK ((origin = ANY (ARRAY['computed'::text, 'person'::text]))),
    CONSTRAINT suggestions_reason_length CHECK ((octet_length(reason) <= 8192)),
    CONSTRAINT suggestions_status_is_known CHECK ((status = ANY (ARRAY['new'::text, 'added'::text, 'dismissed'::text]))),
    CONSTRAINT suggestions_text_length CHECK (((octet_length(text) >= 1) AND (octet_length(text) <= 2000)))
);
ALTER TABLE public.suggestions OWNER TO answerscope_owner;
CREATE INDEX suggestions_added_prompt_id_idx ON public.suggestions USING btree (added_prompt_id);
CREATE INDEX suggestions_brand_id_kind_idx ON public.suggestions USING btree (brand_id, kind);
CREATE UNIQUE INDEX suggestions_brand_id_kind_key_key ON public.suggestions USING btree (brand_id, kind, key) WHERE (key <> ''::text);
CREATE INDEX suggestions_organization_id_idx ON public.suggestions USING btree (organization_id);
COMMENT ON TABLE public.suggestions IS 'What a brand might ask or do next, and why.';
COMMENT ON COLUMN public.suggestions.organization_id IS 'The brand''s; filled.';
COMMENT ON COLUMN public.suggestions.added_prompt_id IS 'The prompt that was made of it, one of the same brand.';
COMMENT ON COLUMN public.suggestions.expires_at IS 'From then on it no longer holds; null: it stays.';
COMMENT ON COLUMN public.suggestions.key IS 'Identifies a computed one within its brand and kind; empty: a person''s.';
COMMENT ON COLUMN public.suggestions.score IS 'Ranks it within its kind; null: not known.';
COMMENT ON COLUMN public.suggestions.origin IS 'Who made it. Of a computed one clients change status and added_prompt_id alone.';
COMMENT ON COLUMN public.suggestions.computed_at IS 'When the counts were last computed; null: a person''s.';
COMMENT ON COLUMN public.suggestions.dismissed_at IS 'Filled when it is dismissed, as dismissed_score.';
CREATE TRIGGER emit AFTER INSERT ON public.suggestions REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION private.emit_suggestions();
CREATE TRIGGER fill BEFORE INSERT ON public.suggestions FOR EACH ROW EXECUTE FUNCTION private.fill_suggestion();
CREATE TRIGGER fill_added BEFORE UPDATE ON public.suggestions FOR EACH ROW WHEN (((old.added_prompt_id IS DISTINCT FROM new.added_prompt_id) AND (new.added_prompt_id IS NOT NULL))) EXECUTE FUNCTION private.fill_suggestion();
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON public.suggestions FOR EACH ROW EXECUTE FUNCTION private.guard_suggestion();
CREATE TRIGGER stamp BEFORE INSERT OR UPDATE ON public.suggestions FOR EACH ROW EXECUTE FUNCTION private.stamp();
CREATE TRIGGER stay BEFORE UPDATE ON public.suggestions FOR EACH ROW WHEN ((((old.id IS DISTINCT FROM new.id) OR (old.organization_id IS DISTINCT FROM new.organization_id)) OR (old.brand_id IS DISTINCT FROM new.brand_id))) EXECUTE FUNCTION private.refuse_move();
ALTER TABLE public.suggestions ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.suggestions FORCE ROW LEVEL SECURITY;
CREATE POLICY deletes ON public.suggestions FOR DELETE TO authenticated USING ((organization_id = ( SELECT private.org_id('member'::text) AS org_id)));
CREATE POLICY inserts ON public.suggestions FOR INSERT TO authenticated WITH CHECK ((organization_id = ( SELECT private.org_id('member'::text) AS org_id)));
CREATE POLICY reads ON public.suggestions FOR SELECT TO authenticated USING ((organization_id = ( SELECT private.org_id('viewer'::text) AS org_id)));
CREATE POLICY service ON public.suggestions FOR ALL TO answerscope_owner, answerscope_service USING (true) WITH CHECK (true);
CREATE POLICY updates ON public.suggestions FOR UPDATE TO authenticated USING ((organization_id = ( SELECT private.org_id('member'::text) AS org_id)));
GRANT DELETE, INSERT, SELECT, UPDATE ON public.suggestions TO answerscope_service;
GRANT DELETE, INSERT, SELECT, UPDATE ON public.suggestions TO authenticated;

-- table public.topics
CREATE TABLE public.topics (
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    brand_id uuid NOT NULL,
    organization_id uuid NOT NULL,
    name text NOT NULL,
    is_active boolean NOT NULL DEFAULT true,
    created_at timestamp with time zone NOT NULL DEFAULT now(),
    updated_at timestamp with time zone NOT NULL DEFAULT now(),
    CONSTRAINT topics_pkey PRIMARY KEY (id),
    CONSTRAINT topics_brand_id_name_key UNIQUE (brand_id, name),
    CONSTRAINT topics_brand_id_fkey FOREIGN KEY (brand_id) REFERENCES brands(id) ON DELETE CASCADE,
    CONSTRAINT topics_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON DELETE CASCADE,
    CONSTRAINT topics_name_form CHECK (private.is_name(name))
);
ALTER TABLE public.topics OWNER TO answerscope_owner;
CREATE INDEX topics_organization_id_idx ON public.topics USING btree (organization_id);
COMMENT ON TABLE public.topics IS 'What a brand''s prompts are about, to filter figures by.';
COMMENT ON COLUMN public.topics.organization_id IS 'The brand''s; filled.';
CREATE TRIGGER fill BEFORE INSERT ON public.topics FOR EACH ROW EXECUTE FUNCTION private.fill_from_brand();
CREATE TRIGGER stamp BEFORE INSERT OR UPDATE ON public.topics FOR EACH ROW EXECUTE FUNCTION private.stamp();
CREATE TRIGGER stay BEFORE UPDATE ON public.topics FOR EACH ROW WHEN ((((old.id IS DISTINCT FROM new.id) OR (old.organization_id IS DISTINCT FROM new.organization_id)) OR (old.brand_id IS DISTINCT FROM new.brand_id))) EXECUTE FUNCTION private.refuse_move();
CREATE TRIGGER write_changes_delete AFTER DELETE ON public.topics REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION private.write_topic_changes();
CREATE TRIGGER write_changes_insert AFTER INSERT ON public.topics REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION private.write_topic_changes();
CREATE TRIGGER write_changes_update AFTER UPDATE ON public.topics REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION private.write_topic_changes();
ALTER TABLE public.topics ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.topics FORCE ROW LEVEL SECURITY;
CREATE POLICY deletes ON public.topics FOR DELETE TO authenticated USING ((organization_id = ( SELECT private.org_id('member'::text) AS org_id)));
CREATE POLICY inserts ON public.topics FOR INSERT TO authenticated WITH CHECK ((organization_id = ( SELECT private.org_id('member'::text) AS org_id)));
CREATE POLICY reads ON public.topics FOR SELECT TO authenticated USING ((organization_id = ( SELECT private.org_id('viewer'::text) AS org_id)));
CREATE POLICY service ON public.topics FOR ALL TO answerscope_owner, answerscope_service USING (true) WITH CHECK (true);
CREATE POLICY updates ON public.topics FOR UPDATE TO authenticated USING ((organization_id = ( SELECT private.org_id('member'::text) AS org_id)));
GRANT DELETE, INSERT, SELECT, UPDATE ON public.topics TO answerscope_service;
GRANT DELETE, INSERT, SELECT, UPDATE ON public.topics TO authenticated;

-- table public.tracking_jobs
CREATE TABLE public.tracking_jobs (
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    organization_id uuid NOT NULL,
    brand_id uuid NOT NULL,
    requested_by uuid,
    status text NOT NULL DEFAULT 'waiting'::text,
    phase text NOT NULL DEFAULT 'queued'::text,
    completed integer NOT NULL DEFAULT 0,
    total integer NOT NULL,
    result jsonb,
    failed_reason text,
    request jsonb NOT NULL DEFAULT '{}'::jsonb,
    plan bytea,
    claim bigint NOT NULL DEFAULT 0,
    estimated_cost numeric,
    cost numeric NOT NULL DEFAULT 0,
    currency text NOT NULL DEFAULT 'USD'::text,
    idempotency_key text,
    started_at timestamp with time zone,
    cancelled_at timestamp with time zone,
    finished_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL DEFAULT now(),
    updated_at timestamp with time zone NOT NULL DEFAULT now(),
    CONSTRAINT tracking_jobs_pkey PRIMARY KEY (id),
    CONSTRAINT tracking_jobs_brand_id_fkey FOREIGN KEY (brand_id) REFERENCES brands(id) ON DELETE CASCADE,
    CONSTRAINT tracking_jobs_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON DELETE CASCADE,
    CONSTRAINT tracking_jobs_requested_by_fkey FOREIGN KEY (requested_by) REFERENCES private.users(id) ON DELETE SET NULL,
    CONSTRAINT tracking_jobs_cost_is_positive CHECK ((cost >= (0)::numeric)),
    CONSTRAINT tracking_jobs_currency_is_known CHECK ((currency = 'USD'::text)),
    CONSTRAINT tracking_jobs_estimated_cost_is_positive CHECK ((estimated_cost >= (0)::numeric)),
    CONSTRAINT tracking_jobs_failed_reason_length CHECK ((octet_length(failed_reason) <= 8192)),
    CONSTRAINT tracking_jobs_idempotency_key_length CHECK (((octet_length(idempotency_key) >= 1) AND (octet_length(idempotency_key) <= 512))),
    CONSTRAINT tracking_jobs_phase_is_known CHECK ((phase = ANY (ARRAY['queued'::text, 'asking'::text, 'landing'::text, 'done'::text]))),
    CONSTRAINT tracking_jobs_status_is_known CHECK ((status = ANY (ARRAY['waiting'::text, 'active'::text, 'completed'::text, 'failed'::text, 'cancelled'::text]))),
    CONSTRAINT tracking_jobs_total_bounds_completed CHECK (((completed >= 0) AND (completed <= total)))
);
ALTER TABLE public.tracking_jobs OWNER TO answerscope_owner;
CREATE INDEX tracking_jobs_brand_id_idx ON public.tracking_jobs USING btree (brand_id, created_at DESC, id DESC);
CREATE INDEX tracking_jobs_idempotency_key_idx ON public.tracking_jobs USING btree (organization_id, idempotency_key) WHERE (idempotency_key IS NOT NULL);
CREATE INDEX tracking_jobs_organization_id_idx ON public.tracking_jobs USING btree (organization_id, created_at DESC, id DESC);
CREATE INDEX tracking_jobs_requested_by_idx ON public.tracking_jobs USING btree (requested_by);
CREATE INDEX tracking_jobs_running_idx ON public.tracking_jobs USING btree (brand_id, plan) WHERE (status = ANY (ARRAY['waiting'::text, 'active'::text]));
COMMENT ON TABLE public.tracking_jobs IS 'Requested jobs of tracking, and their progress.';
COMMENT ON COLUMN public.tracking_jobs.requested_by IS 'Who started it; null: a schedule, the command line, or a user who is gone.';
COMMENT ON COLUMN public.tracking_jobs.completed IS 'Runs that were answered, given up or cancelled. It never falls.';
COMMENT ON COLUMN public.tracking_jobs.total IS 'Its runs.';
COMMENT ON COLUMN public.tracking_jobs.result IS 'Null until it has finished.';
COMMENT ON COLUMN public.tracking_jobs.request IS 'The body that started it.';
COMMENT ON COLUMN public.tracking_jobs.plan IS 'A digest of the questions of its runs: a start with the same plan joins it.';
COMMENT ON COLUMN public.tracking_jobs.claim IS 'Rises with each worker that claims the job; only the last one writes.';
COMMENT ON COLUMN public.tracking_jobs.estimated_cost IS 'Of all runs, before any was asked; null: a platform''s price is not known.';
COMMENT ON COLUMN public.tracking_jobs.cost IS 'Of the runs that have ended, by the platforms'' usage, or by the estimate where a platform reports none.';
COMMENT ON COLUMN public.tracking_jobs.cancelled_at IS 'When it was cancelled; its status follows once the requests in flight have ended.';
CREATE TRIGGER emit AFTER UPDATE OF phase ON public.tracking_jobs FOR EACH ROW WHEN (((new.phase = 'done'::text) AND (old.phase <> 'done'::text))) EXECUTE FUNCTION private.emit_change();
CREATE TRIGGER judge_platforms AFTER UPDATE OF phase ON public.tracking_jobs FOR EACH ROW WHEN (((new.phase = 'done'::text) AND (old.phase <> 'done'::text))) EXECUTE FUNCTION private.judge_platforms();
CREATE TRIGGER stamp BEFORE UPDATE ON public.tracking_jobs FOR EACH ROW EXECUTE FUNCTION private.stamp();
ALTER TABLE public.tracking_jobs ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.tracking_jobs FORCE ROW LEVEL SECURITY;
CREATE POLICY reads ON public.tracking_jobs FOR SELECT TO authenticated USING ((organization_id = ( SELECT private.org_id('viewer'::text) AS org_id)));
CREATE POLICY service ON public.tracking_jobs FOR ALL TO answerscope_owner, answerscope_service USING (true) WITH CHECK (true);
GRANT DELETE, INSERT, SELECT, UPDATE ON public.tracking_jobs TO answerscope_service;
GRANT SELECT ON public.tracking_jobs TO authenticated;

-- table public.tracking_runs
CREATE TABLE public.tracking_runs (
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    organization_id uuid NOT NULL,
    job_id uuid NOT NULL,
    prompt_id uuid NOT NULL,
    platform text NOT NULL,
    model text NOT NULL,
    region text NOT NULL,
    sample integer NOT NULL,
    slot timestamp with time zone NOT NULL DEFAULT now(),
    prompt jsonb NOT NULL DEFAULT '{}'::jsonb,
    state text NOT NULL DEFAULT 'queued'::text,
    attempts integer NOT NULL DEFAULT 0,
    repeats integer NOT NULL DEFAULT 0,
    is_unknown boolean NOT NULL DEFAULT false,
    not_shown boolean NOT NULL DEFAULT false,
    rate_limited integer NOT NULL DEFAULT 0,
    next_attempt_at timestamp with time zone,
    error_class text,
    error text,
    estimate numeric,
    cost numeric,
    provider text,
    provider_job text,
    submitted_at timestamp with time zone,
    late_jobs text[] NOT NULL DEFAULT '{}'::text[],
    answer_id uuid NOT NULL DEFAULT gen_random_uuid(),
    answer json,
    created_at timestamp with time zone NOT NULL DEFAULT now(),
    updated_at timestamp with time zone NOT NULL DEFAULT now(),
    CONSTRAINT tracking_runs_pkey PRIMARY KEY (id),
    CONSTRAINT tracking_runs_answer_id_key UNIQUE (answer_id),
    CONSTRAINT tracking_runs_identity_key UNIQUE (job_id, prompt_id, platform, model, region, sample),
    CONSTRAINT tracking_runs_job_id_fkey FOREIGN KEY (job_id) REFERENCES tracking_jobs(id) ON DELETE CASCADE,
    CONSTRAINT tracking_runs_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON DELETE CASCADE,
    CONSTRAINT tracking_runs_error_class_length CHECK ((octet_length(error_class) <= 100)),
    CONSTRAINT tracking_runs_error_length CHECK ((octet_length(error) <= 8192)),
    CONSTRAINT tracking_runs_late_jobs_count CHECK ((cardinality(late_jobs) <= 10)),
    CONSTRAINT tracking_runs_model_length CHECK ((octet_length(model) <= 512)),
    CONSTRAINT tracking_runs_platform_length CHECK (((octet_length(platform) >= 1) AND (octet_length(platform) <= 200))),
    CONSTRAINT tracking_runs_provider_job_length CHECK (((octet_length(provider_job) >= 1) AND (octet_length(provider_job) <= 512))),
    CONSTRAINT tracking_runs_provider_length CHECK (((octet_length(provider) >= 1) AND (octet_length(provider) <= 64))),
    CONSTRAINT tracking_runs_region_length CHECK ((octet_length(region) <= 512)),
    CONSTRAINT tracking_runs_sample_range CHECK (((sample >= 1) AND (sample <= 10))),
    CONSTRAINT tracking_runs_state_is_known CHECK ((state = ANY (ARRAY['queued'::text, 'asking'::text, 'answered'::text, 'done'::text, 'gave_up'::text, 'cancelled'::text])))
);
ALTER TABLE public.tracking_runs OWNER TO answerscope_owner;
CREATE INDEX tracking_runs_answer_idx ON public.tracking_runs USING btree (job_id) WHERE (answer IS NOT NULL);
CREATE UNIQUE INDEX tracking_runs_asking_key ON public.tracking_runs USING btree (organization_id, prompt_id, platform, model, region, sample) WHERE (state = 'asking'::text);
CREATE INDEX tracking_runs_organization_id_idx ON public.tracking_runs USING btree (organization_id);
CREATE INDEX tracking_runs_waiting_idx ON public.tracking_runs USING btree (organization_id, prompt_id, platform, model, region, sample) WHERE (state = 'queued'::text);
COMMENT ON TABLE public.tracking_runs IS 'One row per prompt, platform, model, region and sample of a job.';
COMMENT ON COLUMN public.tracking_runs.prompt_id IS 'Kept when the prompt is deleted.';
COMMENT ON COLUMN public.tracking_runs.model IS 'The requested model; empty where the platform has no choice.';
COMMENT ON COLUMN public.tracking_runs.region IS 'A country in lower case, or empty.';
COMMENT ON COLUMN public.tracking_runs.slot IS 'When it was due: the start of the hour, day, week or month; of a manual job, its creation.';
COMMENT ON COLUMN public.tracking_runs.prompt IS 'The prompt at the start of the job, as records contain it.';
COMMENT ON COLUMN public.tracking_runs.attempts IS 'Requests that were sent.';
COMMENT ON COLUMN public.tracking_runs.repeats IS 'Requests sent after one whose outcome was not known.';
COMMENT ON COLUMN public.tracking_runs.is_unknown IS 'Whether the outcome of the last request is not known: its process ended.';
COMMENT ON COLUMN public.tracking_runs.not_shown IS 'Whether it was answered by seeing that the surface showed no answer.';
COMMENT ON COLUMN public.tracking_runs.rate_limited IS 'Requests that do not use up the retries of a run: refused for a rate limit, by a capture provider that another one replaces, or that fails again and again, at nothing.';
COMMENT ON COLUMN public.tracking_runs.error_class IS 'Of the last attempt that failed.';
COMMENT ON COLUMN public.tracking_runs.estimate IS 'Its cost in US dollars, before it was asked; null: not known.';
COMMENT ON COLUMN public.tracking_runs.cost IS 'The cost of all its requests in US dollars; null: not known.';
COMMENT ON COLUMN public.tracking_runs.provider IS 'The capture provider that was asked last; null: the platform''s API.';
COMMENT ON COLUMN public.tracking_runs.provider_job IS 'The last job that a provider has accepted.';
COMMENT ON COLUMN public.tracking_runs.submitted_at IS 'When the provider accepted the job, which is waited for while the run is being asked, and not submitted again; null while it is queued.';
COMMENT ON COLUMN public.tracking_runs.late_jobs IS 'Jobs that took too long, and whose captures still count: the provider, a space and its job.';
COMMENT ON COLUMN public.tracking_runs.answer_id IS 'Made of the question and the slot, so that a slot that comes twice is asked once.';
COMMENT ON COLUMN public.tracking_runs.answer IS 'Its record until it is on the log.';
CREATE TRIGGER stamp BEFORE UPDATE ON public.tracking_runs FOR EACH ROW EXECUTE FUNCTION private.stamp();
ALTER TABLE public.tracking_runs ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.tracking_runs FORCE ROW LEVEL SECURITY;
CREATE POLICY reads ON public.tracking_runs FOR SELECT TO authenticated USING ((organization_id = ( SELECT private.org_id('viewer'::text) AS org_id)));
CREATE POLICY service ON public.tracking_runs FOR ALL TO answerscope_owner, answerscope_service USING (true) WITH CHECK (true);
GRANT DELETE, INSERT, SELECT, UPDATE ON public.tracking_runs TO answerscope_service;
GRANT SELECT ON public.tracking_runs TO authenticated;

-- table public.webhook_deliveries
CREATE TABLE public.webhook_deliveries (
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    organization_id uuid NOT NULL,
    endpoint_id uuid NOT NULL,
    event_id uuid NOT NULL,
    event text NOT NULL,
    status text NOT NULL DEFAULT 'pending'::text,
    attempts integer NOT NULL DEFAULT 0,
    next_attempt_at timestamp with time zone NOT NULL DEFAULT now(),
    leased_until timestamp with time zone,
    holder uuid,
    response_status integer,
    duration_ms integer,
    error text,
    response_excerpt text,
    delivered_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL DEFAULT now(),
    CONSTRAINT webhook_deliveries_pkey PRIMARY KEY (id),
    CONSTRAINT webhook_deliveries_event_id_endpoint_id_key UNIQUE (event_id, endpoint_id),
    CONSTRAINT webhook_deliveries_endpoint_id_fkey FOREIGN KEY (endpoint_id) REFERENCES webhook_endpoints(id) ON DELETE CASCADE,
    CONSTRAINT webhook_deliveries_event_id_fkey FOREIGN KEY (event_id) REFERENCES events(id) ON DELETE CASCADE,
    CONSTRAINT webhook_deliveries_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON DELETE CASCADE,
    CONSTRAINT webhook_deliveries_error_length CHECK ((char_length(error) <= 200)),
    CONSTRAINT webhook_deliveries_event_length CHECK ((char_length(event) <= 40)),
    CONSTRAINT webhook_deliveries_response_excerpt_length CHECK ((char_length(response_excerpt) <= 512)),
    CONSTRAINT webhook_deliveries_status_is_known CHECK ((status = ANY (ARRAY['pending'::text, 'delivered'::text, 'failed'::text, 'cancelled'::text])))
);
ALTER TABLE public.webhook_deliveries OWNER TO answerscope_owner;
CREATE INDEX webhook_deliveries_due_idx ON public.webhook_deliveries USING btree (endpoint_id, ((event <> 'webhook.test'::text)), next_attempt_at) WHERE (status = 'pending'::text);
CREATE INDEX webhook_deliveries_endpoint_id_idx ON public.webhook_deliveries USING btree (endpoint_id, created_at DESC, id DESC);
CREATE INDEX webhook_deliveries_leased_idx ON public.webhook_deliveries USING btree (endpoint_id) WHERE (leased_until IS NOT NULL);
CREATE INDEX webhook_deliveries_organization_id_idx ON public.webhook_deliveries USING btree (organization_id, created_at DESC, id DESC);
COMMENT ON TABLE public.webhook_deliveries IS 'One event for one endpoint, for 90 days.';
COMMENT ON COLUMN public.webhook_deliveries.event IS 'The event''s type.';
COMMENT ON COLUMN public.webhook_deliveries.attempts IS 'Of at most ten; a redelivery starts again at 0.';
COMMENT ON COLUMN public.webhook_deliveries.next_attempt_at IS 'When it is due, while it is pending.';
COMMENT ON COLUMN public.webhook_deliveries.holder IS 'The process that is sending it, until leased_until.';
COMMENT ON COLUMN public.webhook_deliveries.error IS 'Of the last attempt; null: it succeeded.';
COMMENT ON COLUMN public.webhook_deliveries.response_excerpt IS 'The beginning of the last response.';
ALTER TABLE public.webhook_deliveries ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.webhook_deliveries FORCE ROW LEVEL SECURITY;
CREATE POLICY reads ON public.webhook_deliveries FOR SELECT TO authenticated USING ((organization_id = ( SELECT private.org_id('admin'::text) AS org_id)));
CREATE POLICY service ON public.webhook_deliveries FOR ALL TO answerscope_owner, answerscope_service USING (true) WITH CHECK (true);
GRANT DELETE, INSERT, SELECT, UPDATE ON public.webhook_deliveries TO answerscope_service;
GRANT SELECT ON public.webhook_deliveries TO authenticated;

-- table public.webhook_endpoints
CREATE TABLE public.webhook_endpoints (
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    organization_id uuid NOT NULL,
    brand_id uuid,
    kind text NOT NULL DEFAULT 'webhook'::text,
    url text NOT NULL,
    description text NOT NULL DEFAULT ''::text,
    events text[] NOT NULL DEFAULT '{}'::text[],
    is_active boolean NOT NULL DEFAULT true,
    failing_since timestamp with time zone,
    disabled_at timestamp with time zone,
    disabled_reason text,
    created_by uuid,
    last_delivered_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL DEFAULT now(),
    CONSTRAINT webhook_endpoints_pkey PRIMARY KEY (id),
    CONSTRAINT webhook_endpoints_brand_id_fkey FOREIGN KEY (brand_id) REFERENCES brands(id) ON DELETE CASCADE,
    CONSTRAINT webhook_endpoints_created_by_fkey FOREIGN KEY (created_by) REFERENCES private.users(id) ON DELETE SET NULL,
    CONSTRAINT webhook_endpoints_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON DELETE CASCADE,
    CONSTRAINT webhook_endpoints_description_length CHECK ((char_length(description) <= 200)),
    CONSTRAINT webhook_endpoints_disabled_reason_is_known CHECK ((disabled_reason = ANY (ARRAY['gone'::text, 'failing'::text]))),
    CONSTRAINT webhook_endpoints_events_are_known CHECK (private.check_events(events)),
    CONSTRAINT webhook_endpoints_kind_is_known CHECK ((kind = ANY (ARRAY['webhook'::text, 'slack'::text]))),
    CONSTRAINT webhook_endpoints_url_form CHECK (((octet_length(url) <= 2048) AND (url ~ '^https?://[^/?#@[:space:]]+'::text)))
);
ALTER TABLE public.webhook_endpoints OWNER TO answerscope_owner;
CREATE INDEX webhook_endpoints_brand_id_idx ON public.webhook_endpoints USING btree (brand_id);
CREATE INDEX webhook_endpoints_created_by_idx ON public.webhook_endpoints USING btree (created_by);
CREATE INDEX webhook_endpoints_organization_id_idx ON public.webhook_endpoints USING btree (organization_id);
COMMENT ON TABLE public.webhook_endpoints IS 'Where events are posted. Made by /api/webhooks: the secret is shown once.';
COMMENT ON COLUMN public.webhook_endpoints.brand_id IS 'Null: every brand of the organization, and what is about the organization.';
COMMENT ON COLUMN public.webhook_endpoints.url IS 'Of Slack its origin and last four characters: the whole is a secret.';
COMMENT ON COLUMN public.webhook_endpoints.events IS 'The types that are sent; empty: all.';
COMMENT ON COLUMN public.webhook_endpoints.failing_since IS 'The first failure after the last success.';
COMMENT ON COLUMN public.webhook_endpoints.disabled_at IS 'When deliveries were stopped, because it was gone or failed for days. Switching it on clears this.';
CREATE TRIGGER fill BEFORE INSERT OR UPDATE ON public.webhook_endpoints FOR EACH ROW EXECUTE FUNCTION private.fill_endpoint();
CREATE TRIGGER limit_rows BEFORE INSERT ON public.webhook_endpoints FOR EACH ROW EXECUTE FUNCTION private.limit_rows('10', 'an organization has at most 10 endpoints: remove one first', 'r.organization_id = ($1).organization_id');
CREATE TRIGGER log_audit AFTER INSERT OR DELETE ON public.webhook_endpoints FOR EACH ROW EXECUTE FUNCTION private.log_endpoint();
CREATE TRIGGER log_audit_change AFTER UPDATE ON public.webhook_endpoints FOR EACH ROW WHEN ((((((old.description IS DISTINCT FROM new.description) OR (old.events IS DISTINCT FROM new.events)) OR (old.brand_id IS DISTINCT FROM new.brand_id)) OR (old.is_active IS DISTINCT FROM new.is_active)) OR (old.disabled_at IS DISTINCT FROM new.disabled_at))) EXECUTE FUNCTION private.log_endpoint();
ALTER TABLE public.webhook_endpoints ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.webhook_endpoints FORCE ROW LEVEL SECURITY;
CREATE POLICY deletes ON public.webhook_endpoints FOR DELETE TO authenticated USING ((organization_id = ( SELECT private.org_id('admin'::text) AS org_id)));
CREATE POLICY inserts ON public.webhook_endpoints FOR INSERT TO authenticated WITH CHECK ((organization_id = ( SELECT private.org_id('admin'::text) AS org_id)));
CREATE POLICY reads ON public.webhook_endpoints FOR SELECT TO authenticated USING ((organization_id = ( SELECT private.org_id('admin'::text) AS org_id)));
CREATE POLICY service ON public.webhook_endpoints FOR ALL TO answerscope_owner, answerscope_service USING (true) WITH CHECK (true);
CREATE POLICY updates ON public.webhook_endpoints FOR UPDATE TO authenticated USING ((organization_id = ( SELECT private.org_id('admin'::text) AS org_id)));
GRANT DELETE, INSERT, SELECT, UPDATE ON public.webhook_endpoints TO answerscope_service;
GRANT DELETE, SELECT ON public.webhook_endpoints TO authenticated;
GRANT UPDATE (brand_id, description, events, is_active) ON public.webhook_endpoints TO authenticated;

-- function private.add_brand_tombstone()
CREATE OR REPLACE FUNCTION private.add_brand_tombstone()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
BEGIN
    INSERT INTO private.tombstones (kind, id, organization_id) VALUES ('brand', OLD.id, OLD.organization_id) ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$function$;
ALTER FUNCTION private.add_brand_tombstone() OWNER TO answerscope_owner;
COMMENT ON FUNCTION private.add_brand_tombstone() IS NULL;

-- function private.add_deliveries()
CREATE OR REPLACE FUNCTION private.add_deliveries()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
BEGIN
    INSERT INTO public.webhook_deliveries (organization_id, endpoint_id, event_id, event, status, next_attempt_at)
    SELECT
        e.organization_id, e.id, NEW.id, NEW.type, CASE WHEN e.is_active THEN 'pending' ELSE 'cancelled' END,
        CASE WHEN e.kind = 'slack' AND NEW.type = 'visibility.moved' THEN private.next_daytime(e.organization_id) ELSE now() END
    FROM public.webhook_endpoints AS e
    WHERE e.organization_id = NEW.organization_id
      AND (e.brand_id IS NULL OR e.brand_id = NEW.brand_id OR NEW.type LIKE 'platform.%') -- which concern every brand
      AND (e.events = '{}' OR NEW.type = ANY (e.events))
      AND (NEW.type <> 'webhook_endpoint.disabled' OR NEW.data #>> '{endpoint,id}' <> e.id::text);
    RETURN NULL;
END
$function$;
ALTER FUNCTION private.add_deliveries() OWNER TO answerscope_owner;
COMMENT ON FUNCTION private.add_deliveries() IS NULL;

-- function private.add_mails()
CREATE OR REPLACE FUNCTION private.add_mails()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
BEGIN
    INSERT INTO private.mails (organization_id, event_id, subscription_id, template, recipient, next_attempt_at)
    SELECT
        NEW.organization_id, NEW.id, r.subscription_id, NEW.type, r.recipient,
        CASE NEW.type WHEN 'visibility.moved' THEN private.next_daytime(NEW.organization_id) ELSE now() END
    FROM (
        SELECT s.id AS subscription_id, coalesce(u.email, CASE WHEN s.confirmed_at IS NOT NULL THEN s.address END) AS recipient
        FROM public.subscriptions AS s
        LEFT JOIN public.members AS m ON m.user_id = s.user_id AND m.organization_id = s.organization_id
        LEFT JOIN private.users AS u ON u.id = m.user_id AND u.is_active
        WHERE s.organization_id = NEW.organization_id
          AND s.stopped_at IS NULL
          AND (s.brand_id IS NULL OR s.brand_id = NEW.brand_id OR NEW.type LIKE 'platform.%')
          AND NEW.type = ANY (s.events)
          AND (NEW.type <> 'visibility.moved' OR NOT s.drops_only OR EXISTS (
                   SELECT FROM jsonb_array_elements(NEW.data -> 'moves') AS move WHERE move ->> 'verdict' <> 'moved_up'))
        UNION ALL
        SELECT NULL, u.email
        FROM public.members AS m
        JOIN private.users AS u ON u.id = m.user_id AND u.is_active
        WHERE m.organization_id = NEW.organization_id
          AND m.role IN ('admin', 'owner')
          AND NEW.type = 'webhook_endpoint.disabled'
    ) AS r
    WHERE octet_length(r.recipient::text) <= 320
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$function$;
ALTER FUNCTION private.add_mails() OWNER TO answerscope_owner;
COMMENT ON FUNCTION private.add_mails() IS NULL;

-- function private.add_organization_tombstone()
CREATE OR REPLACE FUNCTION private.add_organization_tombstone()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
BEGIN
    INSERT INTO private.tombstones (kind, id, organization_id) VALUES ('organization', OLD.id, OLD.id) ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$function$;
ALTER FUNCTION private.add_organization_tombstone() OWNER TO answerscope_owner;
COMMENT ON FUNCTION private.add_organization_tombstone() IS NULL;

-- function private.admit(IN name regclass, IN reader text, IN writer text, IN rights text)
CREATE OR REPLACE PROCEDURE private.admit(IN name regclass, IN reader text, IN writer text DEFAULT NULL::text, IN rights text DEFAULT 'SELECT, INSERT, UPDATE, DELETE'::text)
 LANGUAGE plpgsql
AS $procedure$
BEGIN
    EXECUTE format('GRANT %s ON %s TO authenticated', CASE WHEN writer IS NULL THEN 'SELECT' ELSE rights END, name);
    EXECUTE format('CREATE POLICY reads ON %s FOR SELECT TO authenticated USING (organization_id = (SELECT private.org_id(%L)))', name, reader);
    IF writer IS NOT NULL THEN
        EXECUTE format('CREATE POLICY inserts ON %s FOR INSERT TO authenticated WITH CHECK (organization_id = (SELECT private.org_id(%L)))', name, writer);
        EXECUTE format('CREATE POLICY updates ON %s FOR UPDATE TO authenticated USING (organization_id = (SELECT private.org_id(%L)))', name, writer);
        EXECUTE format('CREATE POLICY deletes ON %s FOR DELETE TO authenticated USING (organization_id = (SELECT private.org_id(%L)))', name, writer);
    END IF;
END
$procedure$;
ALTER FUNCTION private.admit(regclass,text,text,text) OWNER TO answerscope_owner;
COMMENT ON FUNCTION private.admit(regclass,text,text,text) IS NULL;

-- function private.anchor(IN name regclass, IN fill text)
CREATE OR REPLACE PROCEDURE private.anchor(IN name regclass, IN fill text DEFAULT NULL::text)
 LANGUAGE plpgsql
AS $procedure$
BEGIN
    IF fill IS NOT NULL THEN
        EXECUTE format('CREATE TRIGGER fill BEFORE INSERT ON %s FOR EACH ROW EXECUTE FUNCTION private.%I()', name, fill);
        EXECUTE format('COMMENT ON COLUMN %s.organization_id IS %L', name, 'The brand''s; filled.');
    END IF;
    EXECUTE format('CREATE TRIGGER stamp BEFORE INSERT OR UPDATE ON %s FOR EACH ROW EXECUTE FUNCTION private.stamp()', name);
    EXECUTE format('CREATE TRIGGER stay BEFORE UPDATE ON %s FOR EACH ROW
        WHEN ((OLD.id, OLD.organization_id, OLD.brand_id) IS DISTINCT FROM (NEW.id, NEW.organization_id, NEW.brand_id))
        EXECUTE FUNCTION private.refuse_move()', name);
END
$procedure$;
ALTER FUNCTION private.anchor(regclass,text) OWNER TO answerscope_owner;
COMMENT ON FUNCTION private.anchor(regclass,text) IS NULL;

-- function private.are_hosts(hosts text[])
CREATE OR REPLACE FUNCTION private.are_hosts(hosts text[])
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE
 SET search_path TO ''
AS $function$
    SELECT cardinality(hosts) <= 100
       AND coalesce(bool_and(char_length(host) <= 253 AND host ~ '^(localhost|([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\.)+[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)$'), true)
    FROM unnest(hosts) AS host
$function$;
ALTER FUNCTION private.are_hosts(text[]) OWNER TO answerscope_owner;
COMMENT ON FUNCTION private.are_hosts(text[]) IS 'Whether each is a host name with a dot, or localhost; in lower case, an international one in punycode.';
GRANT EXECUTE ON FUNCTION private.are_hosts(text[]) TO answerscope_service;
GRANT EXECUTE ON FUNCTION private.are_hosts(text[]) TO authenticated;

-- function private.are_words(words text[])
CREATE OR REPLACE FUNCTION private.are_words(words text[])
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE
 SET search_path TO ''
AS $function$
    SELECT cardinality(words) <= 100
       AND coalesce(bool_and(coalesce(btrim(word) <> '' AND octet_length(word) <= 512
                                      AND word !~ '[\u0001-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]', false)), true)
    FROM unnest(words) AS word
$function$;
ALTER FUNCTION private.are_words(text[]) OWNER TO answerscope_owner;
COMMENT ON FUNCTION private.are_words(text[]) IS 'Whether each is a name as private.is_name has it.';
GRANT EXECUTE ON FUNCTION private.are_words(text[]) TO answerscope_service;
GRANT EXECUTE ON FUNCTION private.are_words(text[]) TO authenticated;

-- function private.bounded(value jsonb, items integer, bytes integer)
CREATE OR REPLACE FUNCTION private.bounded(value jsonb, items integer, bytes integer)
 RETURNS jsonb
 LANGUAGE plpgsql
 IMMUTABLE
 SET search_path TO ''
AS $function$
DECLARE
    encoded bytea;
BEGIN
    CASE jsonb_typeof(value)
        WHEN 'string' THEN
            encoded := convert_to(value #>> '{}', 'UTF8');
            IF octet_length(encoded) <= bytes THEN
                RETURN value;
            END IF;
            WHILE get_byte(encoded, bytes) & 192 = 128 LOOP -- within a character
                bytes := bytes - 1;
            END LOOP;
            RETURN to_jsonb(convert_from(substring(encoded FOR bytes), 'UTF8'));
        WHEN 'array' THEN
            RETURN (
                SELECT coalesce(jsonb_agg(private.bounded(item, items, bytes) ORDER BY place), '[]')
                FROM jsonb_array_elements(value) WITH ORDINALITY AS u (item, place)
                WHERE place <= items);
        WHEN 'object' THEN
            RETURN (
                SELECT coalesce(jsonb_object_agg('more', length - items) FILTER (WHERE length > items), '{}')
                    || coalesce(jsonb_object_agg(key, private.bounded(field, items, bytes)), '{}')
                FROM (SELECT key, field, CASE jsonb_typeof(field) WHEN 'array' THEN jsonb_array_length(field) END AS length
                      FROM jsonb_each(value) AS fields (key, field)) AS fields);
        ELSE
            RETURN value;
    END CASE;
END
$function$;
ALTER FUNCTION private.bounded(jsonb,integer,integer) OWNER TO answerscope_owner;
COMMENT ON FUNCTION private.bounded(jsonb,integer,integer) IS 'A value whose lists have at most so many items, the number of the others as "more" beside them unless it has one, and its texts so many bytes.';

-- function private.brand_of(brand uuid)
CREATE OR REPLACE FUNCTION private.brand_of(brand uuid)
 RETURNS jsonb
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO ''
AS $function$
    SELECT jsonb_build_object('id', b.id, 'name', b.name, 'slug', b.slug) FROM public.brands AS b WHERE b.id = brand
$function$;
ALTER FUNCTION private.brand_of(uuid) OWNER TO answerscope_owner;
COMMENT ON FUNCTION private.brand_of(uuid) IS 'A brand as events name it.';
GRANT EXECUTE ON FUNCTION private.brand_of(uuid) TO answerscope_service;

-- function private.caller_rank()
CREATE OR REPLACE FUNCTION private.caller_rank()
 RETURNS integer
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO ''
AS $function$
    SELECT private.rank(role) FROM public.members WHERE user_id = private.user_id()
$function$;
ALTER FUNCTION private.caller_rank() OWNER TO answerscope_owner;
COMMENT ON FUNCTION private.caller_rank() IS NULL;
GRANT EXECUTE ON FUNCTION private.caller_rank() TO authenticated;

-- function private.check_brief_status()
CREATE OR REPLACE FUNCTION private.check_brief_status()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
BEGIN
    RAISE EXCEPTION 'status: a brief goes from draft to sent, and from sent to done, not from % to %', OLD.status, NEW.status
        USING ERRCODE = 'check_violation', TABLE = TG_TABLE_NAME, SCHEMA = TG_TABLE_SCHEMA;
END
$function$;
ALTER FUNCTION private.check_brief_status() OWNER TO answerscope_owner;
COMMENT ON FUNCTION private.check_brief_status() IS NULL;

-- function private.check_events(events text[], allowed text[])
CREATE OR REPLACE FUNCTION private.check_events(events text[], allowed text[] DEFAULT ARRAY['tracking.completed'::text, 'tracking.failed'::text, 'tracking.cancelled'::text, 'tracking.skipped'::text, 'visibility.moved'::text, 'platform.degraded'::text, 'platform.recovered'::text, 'report.weekly'::text, 'suggestions.created'::text, 'content_brief.created'::text, 'content_brief.sent'::text, 'brand.created'::text, 'brand.deleted'::text, 'member.added'::text, 'member.changed'::text, 'member.removed'::text, 'key.created'::text, 'key.revoked'::text, 'webhook_endpoint.disabled'::text, 'webhook.test'::text])
 RETURNS boolean
 LANGUAGE plpgsql
 IMMUTABLE
 SET search_path TO ''
AS $function$
BEGIN
    IF events <@ allowed AND cardinality(events) <= cardinality(allowed) THEN
        RETURN true;
    END IF;
    RAISE EXCEPTION 'events: want some of %', array_to_string(allowed, ', ') USING ERRCODE = 'check_violation';
END
$function$;
ALTER FUNCTION private.check_events(text[],text[]) OWNER TO answerscope_owner;
COMMENT ON FUNCTION private.check_events(text[],text[]) IS 'True for known types of events; others are refused by an error that lists these.';
GRANT EXECUTE ON FUNCTION private.check_events(text[],text[]) TO answerscope_service;
GRANT EXECUTE ON FUNCTION private.check_events(text[],text[]) TO authenticated;

-- function private.delete_events_of_brand()
CREATE OR REPLACE FUNCTION private.delete_events_of_brand()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
BEGIN
    DELETE FROM public.events WHERE organization_id = OLD.organization_id AND brand_id = OLD.id AND type <> 'brand.deleted';
    RETURN NULL;
END
$function$;
ALTER FUNCTION private.delete_events_of_brand() OWNER TO answerscope_owner;
COMMENT ON FUNCTION private.delete_events_of_brand() IS NULL;

-- function private.domain_of(address text)
CREATE OR REPLACE FUNCTION private.domain_of(address text)
 RETURNS text
 LANGUAGE plpgsql
 IMMUTABLE
 SET search_path TO ''
AS $function$
DECLARE
    host text := btrim(address, E' \t\r\n');
BEGIN
    host := regexp_replace(host, '^([A-Za-z][A-Za-z0-9+.-]*:)?//', '');
    host := regexp_replace(host, '[/?#\\].*$', '');
    host := regexp_replace(host, '^.*@', '');
    host := regexp_replace(host, ':[0-9]*$', '');
    IF host ~ '[^\x01-\x7f]' AND char_length(host) <= 253 THEN
        host := (SELECT string_agg(CASE WHEN label ~ '[^\x01-\x7f]' THEN private.punycode(label) ELSE label END, '.' ORDER BY n)
                 FROM regexp_split_to_table(normalize(lower(normalize(host, NFKC)), NFC), '[.。]') WITH ORDINALITY AS u (label, n));
    END IF;
    host := regexp_replace(lower(host), '\.$', '');
    host := regexp_replace(host, '^www\.(?=.*\.)', '');
    IF NOT coalesce(private.are_hosts(ARRAY[host]), false) THEN
        RAISE EXCEPTION 'domain "%": want a host such as example.com', left(address, 300) USING ERRCODE = 'check_violation';
    END IF;
    RETURN host;
END
$function$;
ALTER FUNCTION private.domain_of(text) OWNER TO answerscope_owner;
COMMENT ON FUNCTION private.domain_of(text) IS 'The host of an address as domains are kept: lower case, punycode, without scheme, user, port, path, www. and a trailing dot.';
GRANT EXECUTE ON FUNCTION private.domain_of(text) TO answerscope_service;

-- function private.domains_of(addresses text[])
CREATE OR REPLACE FUNCTION private.domains_of(addresses text[])
 RETURNS text[]
 LANGUAGE sql
 IMMUTABLE
 SET search_path TO ''
AS $function$
    SELECT coalesce(array_agg(domain ORDER BY place), '{}')
    FROM (SELECT private.domain_of(address) AS domain, min(ordinality) AS place
          FROM unnest(addresses) WITH ORDINALITY AS u (address, ordinality)
          WHERE btrim(address) <> ''
          GROUP BY 1) AS domains
$function$;
ALTER FUNCTION private.domains_of(text[]) OWNER TO answerscope_owner;
COMMENT ON FUNCTION private.domains_of(text[]) IS 'The domains of addresses, each once, in their order; blanks are left out.';
GRANT EXECUTE ON FUNCTION private.domains_of(text[]) TO answerscope_service;

-- function private.emit(organization uuid, brand uuid, event text, body jsonb, once text)
CREATE OR REPLACE FUNCTION private.emit(organization uuid, brand uuid, event text, body jsonb, once text DEFAULT NULL::text)
 RETURNS uuid
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
DECLARE
    content jsonb := private.bounded(body, 20, 12000);
    added   uuid;
BEGIN
    IF octet_length(content::text) > 20000 THEN
        content := private.bounded(body, 0, 1000) || '{"truncated": true}';
    END IF;
    INSERT INTO public.events (organization_id, brand_id, type, data, key, admin_only)
    SELECT o.id, brand, event, content, once, event ~ '^(member|key|webhook)'
    FROM public.organizations AS o -- one that is being deleted, with its brands and members, is told nothing
    WHERE o.id = organization
    ON CONFLICT DO NOTHING
    RETURNING id INTO added;
    RETURN added;
END
$function$;
ALTER FUNCTION private.emit(uuid,uuid,text,jsonb,text) OWNER TO answerscope_owner;
COMMENT ON FUNCTION private.emit(uuid,uuid,text,jsonb,text) IS 'Adds an event and returns its id; null: the organization is deleted, or an event has that key.';
GRANT EXECUTE ON FUNCTION private.emit(uuid,uuid,text,jsonb,text) TO answerscope_service;

-- function private.emit_change()
CREATE OR REPLACE FUNCTION private.emit_change()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
DECLARE
    r     jsonb := to_jsonb(CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END);
    owner uuid := r ->> 'organization_id';
    brand uuid := r ->> 'brand_id';
    verb  text := CASE TG_OP WHEN 'INSERT' THEN 'added' WHEN 'DELETE' THEN 'removed' ELSE 'changed' END;
    maker jsonb := (SELECT jsonb_build_object('user_id', u.id, 'email', u.email) FROM private.users AS u WHERE u.id = private.user_id());
BEGIN
    CASE TG_TABLE_NAME
        WHEN 'tracking_jobs' THEN
            PERFORM private.emit(owner, brand, 'tracking.' || (r ->> 'status'), jsonb_build_object(
                'brand', private.brand_of(brand), 'job_id', r -> 'id', 'scheduled', r -> 'plan' = 'null', 'total', r -> 'total', 'result', r -> 'result',
                'failed_reason', r -> 'failed_reason', 'started_at', r -> 'started_at', 'finished_at', r -> 'finished_at'));
        WHEN 'content_briefs' THEN
            PERFORM private.emit(owner, brand, event, jsonb_build_object(
                'brand', private.brand_of(brand),
                'brief', jsonb_build_object(
                    'id', r -> 'id', 'title', r -> 'title', 'status', r -> 'status', 'suggestion_id', r -> 'suggestion_id',
                    'body', r -> 'body', 'body_truncated', octet_length(r ->> 'body') > 12000),
                'suggestion', (SELECT jsonb_build_object('id', s.id, 'kind', s.kind, 'text', s.text, 'reason', s.reason)
                               FROM public.suggestions AS s WHERE s.id = (r ->> 'suggestion_id')::uuid)))
            FROM unnest(ARRAY[CASE TG_OP WHEN 'INSERT' THEN 'content_brief.created' END,
                              CASE r ->> 'status' WHEN 'sent' THEN 'content_brief.sent' END]) AS event
            WHERE event IS NOT NULL;
        WHEN 'brands' THEN
            PERFORM private.emit(owner, (r ->> 'id')::uuid, CASE TG_OP WHEN 'INSERT' THEN 'brand.created' ELSE 'brand.deleted' END,
                jsonb_build_object('brand', jsonb_build_object('id', r -> 'id', 'name', r -> 'name', 'slug', r -> 'slug'), 'by', maker));
        WHEN 'users' THEN -- before the deletion, which removes the member
            PERFORM private.emit(m.organization_id, NULL, 'member.removed',
                jsonb_build_object('user_id', m.user_id, 'email', r -> 'email', 'role', m.role, 'by', maker))
            FROM public.members AS m
            WHERE m.user_id = (r ->> 'id')::uuid;
        WHEN 'members' THEN
            PERFORM private.emit(owner, NULL, 'member.' || verb,
                jsonb_build_object('user_id', u.id, 'email', u.email, 'role', r -> 'role', 'by', maker))
            FROM private.users AS u
            WHERE u.id = (r ->> 'user_id')::uuid;
        WHEN 'api_keys' THEN
            PERFORM private.emit(owner, NULL, CASE TG_OP WHEN 'INSERT' THEN 'key.created' ELSE 'key.revoked' END,
                jsonb_build_object(
                    'key', jsonb_build_object('id', r -> 'id', 'name', r -> 'name', 'prefix', r -> 'prefix', 'scopes', r -> 'scopes', 'expires_at', r -> 'expires_at'),
                    'user_id', r -> 'user_id', 'by', maker));
    END CASE;
    RETURN OLD; -- a deletion before which it runs goes on
END
$function$;
ALTER FUNCTION private.emit_change() OWNER TO answerscope_owner;
COMMENT ON FUNCTION private.emit_change() IS NULL;

-- function private.emit_suggestions()
CREATE OR REPLACE FUNCTION private.emit_suggestions()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
BEGIN
    PERFORM private.emit(organization_id, brand_id, 'suggestions.created', jsonb_build_object(
        'brand', private.brand_of(brand_id), 'count', count(*), 'more', greatest(count(*) - 20, 0),
        'suggestions', jsonb_agg(jsonb_build_object('id', id, 'kind', kind, 'text', text) ORDER BY place) FILTER (WHERE place <= 20)))
    FROM (SELECT *, row_number() OVER (PARTITION BY brand_id ORDER BY rank, kind) AS place -- the best of each kind, then the second ones
          FROM (SELECT *, row_number() OVER (PARTITION BY brand_id, kind ORDER BY score DESC NULLS LAST, key, id) AS rank
                FROM added) AS ranked) AS suggestions
    GROUP BY organization_id, brand_id;
    RETURN NULL;
END
$function$;
ALTER FUNCTION private.emit_suggestions() OWNER TO answerscope_owner;
COMMENT ON FUNCTION private.emit_suggestions() IS NULL;

-- function private.end_access()
CREATE OR REPLACE FUNCTION private.end_access()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
BEGIN
    UPDATE private.sessions SET revoked_at = now() WHERE user_id = OLD.user_id AND revoked_at IS NULL;
    UPDATE public.api_keys SET revoked_at = now() WHERE user_id = OLD.user_id AND revoked_at IS NULL;
    DELETE FROM private.oauth_grants WHERE user_id = OLD.user_id;
    RETURN NULL;
END
$function$;
ALTER FUNCTION private.end_access() OWNER TO answerscope_owner;
COMMENT ON FUNCTION private.end_access() IS NULL;

-- function private.fill_annotation()
CREATE OR REPLACE FUNCTION private.fill_annotation()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
BEGIN
    NEW.organization_id := CASE
        WHEN NEW.brand_id IS NULL THEN coalesce(NEW.organization_id, private.org_id())
        ELSE coalesce(
            (SELECT b.organization_id FROM public.brands AS b WHERE b.id = NEW.brand_id),
            '00000000-0000-0000-0000-000000000000')
    END;
    NEW.created_by := coalesce(private.user_id(), NEW.created_by);
    RETURN NEW;
END
$function$;
ALTER FUNCTION private.fill_annotation() OWNER TO answerscope_owner;
COMMENT ON FUNCTION private.fill_annotation() IS NULL;

-- function private.fill_brand_slug()
CREATE OR REPLACE FUNCTION private.fill_brand_slug()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
DECLARE
    base text := private.slug_of(NEW.name, 'brand');
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('brands of ' || NEW.organization_id, 0)); -- two of one name at once get different slugs
    NEW.slug := private.free_slug(base, ARRAY(
        SELECT b.slug FROM public.brands AS b WHERE b.organization_id = NEW.organization_id AND starts_with(b.slug, base)));
    RETURN NEW;
END
$function$;
ALTER FUNCTION private.fill_brand_slug() OWNER TO answerscope_owner;
COMMENT ON FUNCTION private.fill_brand_slug() IS NULL;

-- function private.fill_content_brief()
CREATE OR REPLACE FUNCTION private.fill_content_brief()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
BEGIN
    NEW.organization_id := coalesce(
        (SELECT b.organization_id
         FROM public.brands AS b
         WHERE b.id = NEW.brand_id
           AND (NEW.suggestion_id IS NULL
                OR EXISTS (SELECT FROM public.suggestions AS s WHERE s.id = NEW.suggestion_id AND s.brand_id = b.id))),
        '00000000-0000-0000-0000-000000000000');
    RETURN NEW;
END
$function$;
ALTER FUNCTION private.fill_content_brief() OWNER TO answerscope_owner;
COMMENT ON FUNCTION private.fill_content_brief() IS NULL;

-- function private.fill_endpoint()
CREATE OR REPLACE FUNCTION private.fill_endpoint()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
BEGIN
    IF NEW.brand_id IS NOT NULL THEN
        NEW.organization_id := coalesce(
            (SELECT b.organization_id FROM public.brands AS b WHERE b.id = NEW.brand_id AND b.organization_id = NEW.organization_id),
            '00000000-0000-0000-0000-000000000000');
    END IF;
    IF NEW.is_active THEN
        NEW.disabled_at := NULL;
        NEW.disabled_reason := NULL;
        NEW.failing_since := CASE WHEN OLD.is_active THEN NEW.failing_since END;
    END IF;
    RETURN NEW;
END
$function$;
ALTER FUNCTION private.fill_endpoint() OWNER TO answerscope_owner;
COMMENT ON FUNCTION private.fill_endpoint() IS NULL;

-- function private.fill_from_brand()
CREATE OR REPLACE FUNCTION private.fill_from_brand()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
BEGIN
    NEW.organization_id := coalesce(
        (SELECT b.organization_id FROM public.brands AS b WHERE b.id = NEW.brand_id),
        '00000000-0000-0000-0000-000000000000');
    RETURN NEW;
END
$function$;
ALTER FUNCTION private.fill_from_brand() OWNER TO answerscope_owner;
COMMENT ON FUNCTION private.fill_from_brand() IS NULL;

-- function private.fill_from_prompt_set()
CREATE OR REPLACE FUNCTION private.fill_from_prompt_set()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
DECLARE
    owner public.prompt_sets;
BEGIN
    SELECT s.* INTO owner FROM public.prompt_sets AS s WHERE s.id = NEW.prompt_set_id;
    NEW.brand_id := coalesce(NEW.brand_id, owner.brand_id, '00000000-0000-0000-0000-000000000000');
    IF NEW.brand_id = owner.brand_id
        AND (NEW.topic_id IS NULL OR EXISTS (SELECT FROM public.topics AS t WHERE t.id = NEW.topic_id AND t.brand_id = NEW.brand_id))
    THEN
        NEW.organization_id := owner.organization_id;
    ELSE
        NEW.organization_id := '00000000-0000-0000-0000-000000000000';
    END IF;
    RETURN NEW;
END
$function$;
ALTER FUNCTION private.fill_from_prompt_set() OWNER TO answerscope_owner;
COMMENT ON FUNCTION private.fill_from_prompt_set() IS NULL;

-- function private.fill_organization()
CREATE OR REPLACE FUNCTION private.fill_organization()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
BEGIN
    NEW.organization_id := private.org_id();
    RETURN NEW;
END
$function$;
ALTER FUNCTION private.fill_organization() OWNER TO answerscope_owner;
COMMENT ON FUNCTION private.fill_organization() IS NULL;

-- function private.fill_organization_slug()
CREATE OR REPLACE FUNCTION private.fill_organization_slug()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
DECLARE
    base text := private.slug_of(NEW.name, 'organization');
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('organizations', 0)); -- two of one name at once get different slugs
    NEW.slug := private.free_slug(base, ARRAY(SELECT o.slug FROM public.organizations AS o WHERE starts_with(o.slug, base)));
    RETURN NEW;
END
$function$;
ALTER FUNCTION private.fill_organization_slug() OWNER TO answerscope_owner;
COMMENT ON FUNCTION private.fill_organization_slug() IS NULL;

-- function private.fill_slot()
CREATE OR REPLACE FUNCTION private.fill_slot()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
BEGIN
    IF TG_OP = 'UPDATE' THEN
        NEW.slot := OLD.slot;
        RETURN NEW;
    END IF;
    PERFORM FROM public.brands AS b WHERE b.id = NEW.brand_id FOR NO KEY UPDATE; -- two requests choose in turn
    NEW.slot := (
        SELECT min(free.slot)
        FROM generate_series(1, 8) AS free (slot)
        WHERE NOT EXISTS (SELECT FROM public.competitors AS c WHERE c.brand_id = NEW.brand_id AND c.slot = free.slot)
    );
    RETURN NEW;
END
$function$;
ALTER FUNCTION private.fill_slot() OWNER TO answerscope_owner;
COMMENT ON FUNCTION private.fill_slot() IS NULL;

-- function private.fill_subscription()
CREATE OR REPLACE FUNCTION private.fill_subscription()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
BEGIN
    IF TG_OP = 'INSERT' THEN
        NEW.organization_id := CASE
            WHEN NEW.brand_id IS NULL THEN coalesce(NEW.organization_id, private.org_id())
            ELSE coalesce(
                (SELECT b.organization_id FROM public.brands AS b
                 WHERE b.id = NEW.brand_id AND b.organization_id = coalesce(NEW.organization_id, b.organization_id)),
                '00000000-0000-0000-0000-000000000000')
        END;
        NEW.user_id := CASE WHEN NEW.address IS NULL THEN coalesce(private.user_id(), NEW.user_id) END;
    ELSIF OLD.stopped_at IS NOT NULL AND NEW.stopped_at IS NULL THEN
        NEW.started_at := now();
    END IF;
    IF NEW.events = '{}' THEN
        NEW.events := private.mailed_events();
    END IF;
    NEW.stopped_reason := CASE WHEN NEW.stopped_at IS NOT NULL THEN coalesce(NEW.stopped_reason, 'unsubscribed') END;
    RETURN NEW;
END
$function$;
ALTER FUNCTION private.fill_subscription() OWNER TO answerscope_owner;
COMMENT ON FUNCTION private.fill_subscription() IS NULL;

-- function private.fill_suggestion()
CREATE OR REPLACE FUNCTION private.fill_suggestion()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
BEGIN
    NEW.organization_id := coalesce(
        (SELECT b.organization_id
         FROM public.brands AS b
         WHERE b.id = NEW.brand_id
           AND (NEW.added_prompt_id IS NULL
                OR EXISTS (SELECT FROM public.prompts AS p WHERE p.id = NEW.added_prompt_id AND p.brand_id = b.id))),
        '00000000-0000-0000-0000-000000000000');
    RETURN NEW;
END
$function$;
ALTER FUNCTION private.fill_suggestion() OWNER TO answerscope_owner;
COMMENT ON FUNCTION private.fill_suggestion() IS NULL;

-- function private.follow(IN name regclass, IN trigger text, IN function text)
CREATE OR REPLACE PROCEDURE private.follow(IN name regclass, IN trigger text, IN function text)
 LANGUAGE plpgsql
AS $procedure$
DECLARE
    change text;
BEGIN
    FOREACH change IN ARRAY ARRAY['insert', 'update', 'delete'] LOOP
        EXECUTE format('CREATE TRIGGER %I AFTER %s ON %s REFERENCING %s TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION private.%I()',
            trigger || '_' || change, change, name, CASE change WHEN 'delete' THEN 'OLD' ELSE 'NEW' END, function);
    END LOOP;
END
$procedure$;
ALTER FUNCTION private.follow(regclass,text,text) OWNER TO answerscope_owner;
COMMENT ON FUNCTION private.follow(regclass,text,text) IS NULL;

-- function private.free_slug(slug text, taken text[])
CREATE OR REPLACE FUNCTION private.free_slug(slug text, taken text[])
 RETURNS text
 LANGUAGE sql
 IMMUTABLE
 SET search_path TO ''
AS $function$
    SELECT candidate
    FROM (SELECT CASE n WHEN 1 THEN slug ELSE slug || '-' || n END AS candidate, n
          FROM generate_series(1, cardinality(taken) + 1) AS n) AS candidates
    WHERE candidate <> ALL (taken)
    ORDER BY n
    LIMIT 1
$function$;
ALTER FUNCTION private.free_slug(text,text[]) OWNER TO answerscope_owner;
COMMENT ON FUNCTION private.free_slug(text,text[]) IS 'The slug itself, or the first of slug-2, slug-3, … that is not taken.';

-- function private.guard_suggestion()
CREATE OR REPLACE FUNCTION private.guard_suggestion()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
DECLARE
    free CONSTANT text[] := '{status, added_prompt_id, updated_at}';
BEGIN
    IF current_user = 'authenticated' AND (
        TG_OP = 'INSERT' AND NEW.origin = 'computed'
        OR TG_OP = 'UPDATE' AND 'computed' IN (OLD.origin, NEW.origin) AND to_jsonb(OLD) - free <> to_jsonb(NEW) - free)
    THEN
        RAISE EXCEPTION 'of a computed suggestion only status and added_prompt_id may be changed'
            USING ERRCODE = 'insufficient_privilege', TABLE = TG_TABLE_NAME, SCHEMA = TG_TABLE_SCHEMA;
    END IF;
    IF NEW.status <> 'dismissed' THEN
        NEW.dismissed_at := NULL;
        NEW.dismissed_score := NULL;
    ELSIF TG_OP = 'INSERT' OR OLD.status <> 'dismissed' THEN
        NEW.dismissed_at := now();
        NEW.dismissed_score := NEW.score;
    END IF;
    IF TG_OP = 'UPDATE' AND OLD.status <> 'new' AND NEW.status = 'new' AND OLD.expires_at IS NOT NULL AND OLD.origin = 'computed' THEN
        NEW.expires_at := greatest(NEW.expires_at, now() + INTERVAL '1 day'); -- until the nightly computation
    END IF;
    RETURN NEW;
END
$function$;
ALTER FUNCTION private.guard_suggestion() OWNER TO answerscope_owner;
COMMENT ON FUNCTION private.guard_suggestion() IS NULL;

-- function private.host_of(url text)
CREATE OR REPLACE FUNCTION private.host_of(url text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE
 SET search_path TO ''
AS $function$
    SELECT substring(url FROM '^https?://([^/?#]+)')
$function$;
ALTER FUNCTION private.host_of(text) OWNER TO answerscope_owner;
COMMENT ON FUNCTION private.host_of(text) IS 'The host of an address, whose path may be a secret.';
GRANT EXECUTE ON FUNCTION private.host_of(text) TO answerscope_service;

-- function private.is_name(name text)
CREATE OR REPLACE FUNCTION private.is_name(name text)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE
 SET search_path TO ''
AS $function$
    SELECT octet_length(name) <= 512 AND btrim(name) <> '' AND name !~ '[\u0001-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]'
$function$;
ALTER FUNCTION private.is_name(text) OWNER TO answerscope_owner;
COMMENT ON FUNCTION private.is_name(text) IS 'Whether it is a text of at most 512 bytes, not blank, without controls and what turns the direction of text, as event.HasControls has them.';
GRANT EXECUTE ON FUNCTION private.is_name(text) TO answerscope_service;
GRANT EXECUTE ON FUNCTION private.is_name(text) TO authenticated;

-- function private.is_slug(slug text)
CREATE OR REPLACE FUNCTION private.is_slug(slug text)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE
 SET search_path TO ''
AS $function$
    SELECT char_length(slug) BETWEEN 1 AND 100 AND slug !~ '[[:space:][:cntrl:]/?#%]'
$function$;
ALTER FUNCTION private.is_slug(text) OWNER TO answerscope_owner;
COMMENT ON FUNCTION private.is_slug(text) IS 'Whether it can stand in a path and on a command line.';
GRANT EXECUTE ON FUNCTION private.is_slug(text) TO answerscope_service;
GRANT EXECUTE ON FUNCTION private.is_slug(text) TO authenticated;

-- function private.judge_platforms()
CREATE OR REPLACE FUNCTION private.judge_platforms()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
DECLARE
    p     record;
    since timestamptz;
    event text;
BEGIN
    FOR p IN
        SELECT
            platform,
            sum(count) AS runs,
            coalesce(sum(count) FILTER (WHERE class IS NOT NULL), 0) AS gave_up,
            coalesce(jsonb_object_agg(class, count) FILTER (WHERE class IS NOT NULL), '{}') AS classes
        FROM (
            SELECT platform, CASE state WHEN 'gave_up' THEN coalesce(error_class, 'unknown') END AS class, count(*)
            FROM public.tracking_runs
            WHERE job_id = NEW.id
              AND state IN ('done', 'gave_up')
            GROUP BY 1, 2
        ) AS runs
        GROUP BY platform
        HAVING sum(count) >= 5
        ORDER BY platform
    LOOP
        IF p.gave_up * 5 > p.runs THEN
            event := 'platform.degraded';
            INSERT INTO private.episodes (organization_id, kind, scope)
            VALUES (NEW.organization_id, 'platform', p.platform)
            ON CONFLICT DO NOTHING
            RETURNING opened_at INTO since;
        ELSE
            event := 'platform.recovered';
            UPDATE private.episodes
            SET closed_at = now()
            WHERE organization_id = NEW.organization_id
              AND brand_id IS NULL
              AND kind = 'platform'
              AND scope = p.platform
              AND closed_at IS NULL
            RETURNING opened_at INTO since;
        END IF;
        IF FOUND THEN
            PERFORM private.emit(NEW.organization_id, NULL, event, jsonb_build_object(
                'platform', p.platform, 'job_id', NEW.id, 'runs', p.runs, 'gave_up', p.classes, 'since', since,
                'brands', (SELECT jsonb_agg(private.brand_of(b.id) ORDER BY b.name)
                           FROM public.brands AS b
                           WHERE b.organization_id = NEW.organization_id
                             AND (b.id = NEW.brand_id OR b.is_active AND EXISTS (
                                      SELECT FROM public.brand_platforms AS bp
                                      WHERE bp.brand_id = b.id AND bp.platform = p.platform AND bp.is_enabled)))));
        END IF;
    END LOOP;
    RETURN NULL;
END
$function$;
ALTER FUNCTION private.judge_platforms() OWNER TO answerscope_owner;
COMMENT ON FUNCTION private.judge_platforms() IS NULL;

-- function private.keep_an_owner()
CREATE OR REPLACE FUNCTION private.keep_an_owner()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
BEGIN
    PERFORM FROM public.organizations WHERE id = OLD.organization_id FOR NO KEY UPDATE;
    IF FOUND AND NOT EXISTS (SELECT FROM public.members WHERE organization_id = OLD.organization_id AND role = 'owner') THEN
        RAISE EXCEPTION 'the last owner of an organization stays: make another member an owner first'
            USING ERRCODE = 'check_violation', TABLE = TG_TABLE_NAME, SCHEMA = TG_TABLE_SCHEMA;
    END IF;
    RETURN NULL;
END
$function$;
ALTER FUNCTION private.keep_an_owner() OWNER TO answerscope_owner;
COMMENT ON FUNCTION private.keep_an_owner() IS NULL;

-- function private.keep_checked()
CREATE OR REPLACE FUNCTION private.keep_checked()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
BEGIN
    IF current_user = 'authenticated' THEN
        NEW.last_checked_at := CASE TG_OP WHEN 'UPDATE' THEN OLD.last_checked_at END;
    END IF;
    RETURN NEW;
END
$function$;
ALTER FUNCTION private.keep_checked() OWNER TO answerscope_owner;
COMMENT ON FUNCTION private.keep_checked() IS NULL;

-- function private.keep_domain()
CREATE OR REPLACE FUNCTION private.keep_domain()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
BEGIN
    NEW.domain := private.domain_of(NEW.domain);
    RETURN NEW;
END
$function$;
ALTER FUNCTION private.keep_domain() OWNER TO answerscope_owner;
COMMENT ON FUNCTION private.keep_domain() IS NULL;

-- function private.keep_domains()
CREATE OR REPLACE FUNCTION private.keep_domains()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
DECLARE
    rest text[] := NEW.domains;
BEGIN
    IF TG_OP = 'INSERT' THEN
        NEW.domains := NEW.domain || coalesce(NEW.domains, '{}');
    ELSIF NEW.domains IS NOT DISTINCT FROM OLD.domains AND NEW.domain IS DISTINCT FROM OLD.domain THEN
        NEW.domains := NEW.domain || rest[2:];
    END IF;
    NEW.domains := private.domains_of(NEW.domains);
    NEW.domain := NEW.domains[1];
    RETURN NEW;
END
$function$;
ALTER FUNCTION private.keep_domains() OWNER TO answerscope_owner;
COMMENT ON FUNCTION private.keep_domains() IS NULL;

-- function private.limit_added()
CREATE OR REPLACE FUNCTION private.limit_added()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
DECLARE
    is_over bool;
BEGIN
    EXECUTE format('SELECT EXISTS (
            SELECT FROM (SELECT DISTINCT %2$I AS owner FROM added) AS o
            WHERE (SELECT count(*) FROM (SELECT FROM %1$s AS r WHERE r.%2$I = o.owner LIMIT $1 + 1) AS rows) > $1)',
        TG_RELID::regclass, TG_ARGV[1]) INTO is_over USING TG_ARGV[0]::int;
    IF is_over THEN
        RAISE EXCEPTION USING MESSAGE = TG_ARGV[2], ERRCODE = 'program_limit_exceeded';
    END IF;
    RETURN NULL;
END
$function$;
ALTER FUNCTION private.limit_added() OWNER TO answerscope_owner;
COMMENT ON FUNCTION private.limit_added() IS NULL;

-- function private.limit_rows()
CREATE OR REPLACE FUNCTION private.limit_rows()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
DECLARE
    is_full bool;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended(TG_TABLE_NAME || ' of ' || NEW.organization_id, 0)); -- two at once count each other
    EXECUTE format('SELECT count(*) >= $2 FROM %s AS r WHERE %s', TG_RELID::regclass, TG_ARGV[2]) INTO is_full USING NEW, TG_ARGV[0]::int;
    IF is_full THEN
        RAISE EXCEPTION USING MESSAGE = TG_ARGV[1], ERRCODE = coalesce(TG_ARGV[3], 'program_limit_exceeded');
    END IF;
    RETURN NEW;
END
$function$;
ALTER FUNCTION private.limit_rows() OWNER TO answerscope_owner;
COMMENT ON FUNCTION private.limit_rows() IS NULL;

-- function private.list_edited(list text[], added text[], removed text[])
CREATE OR REPLACE FUNCTION private.list_edited(list text[], added text[], removed text[])
 RETURNS text[]
 LANGUAGE sql
 IMMUTABLE
 SET search_path TO ''
AS $function$
    SELECT coalesce(array_agg(item ORDER BY place), '{}')
    FROM (SELECT item, min(ordinality) AS place
          FROM unnest(list || added) WITH ORDINALITY AS u (item, ordinality)
          WHERE item <> ALL (removed)
          GROUP BY item) AS items
$function$;
ALTER FUNCTION private.list_edited(text[],text[],text[]) OWNER TO answerscope_owner;
COMMENT ON FUNCTION private.list_edited(text[],text[],text[]) IS 'A list with what is added at its end, each once, and without what is removed.';
GRANT EXECUTE ON FUNCTION private.list_edited(text[],text[],text[]) TO answerscope_service;

-- function private.log_annotation()
CREATE OR REPLACE FUNCTION private.log_annotation()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
DECLARE
    r public.annotations := CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
BEGIN
    PERFORM private.log_audit(
        'annotation ' || CASE TG_OP WHEN 'INSERT' THEN 'added' WHEN 'DELETE' THEN 'deleted' ELSE 'changed' END,
        r.organization_id, r.day::text,
        (SELECT coalesce(jsonb_object_agg(key, CASE WHEN key NOT IN ('text', 'url') THEN jsonb_build_array(before.value, after.value) END), '{}')
         FROM jsonb_each(to_jsonb(OLD)) AS before
         JOIN jsonb_each(to_jsonb(NEW)) AS after USING (key)
         WHERE before.value <> after.value AND key <> 'updated_at'));
    RETURN NULL;
END
$function$;
ALTER FUNCTION private.log_annotation() OWNER TO answerscope_owner;
COMMENT ON FUNCTION private.log_annotation() IS NULL;

-- function private.log_audit(action text, organization uuid, subject text, detail jsonb)
CREATE OR REPLACE FUNCTION private.log_audit(action text, organization uuid, subject text, detail jsonb DEFAULT '{}'::jsonb)
 RETURNS void
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
    WITH added AS (
        INSERT INTO public.audit_log (organization_id, actor_id, action, subject, detail)
        VALUES (organization, private.user_id(), action, left(subject, 1000), detail)
        RETURNING id
    )
    INSERT INTO private.audit_origins (audit_id, actor)
    SELECT
        id,
        left(concat_ws(' through ',
            nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> 'sub',
            coalesce(nullif(current_setting('answerscope.actor', true), ''), session_user)), 1000)
    FROM added
$function$;
ALTER FUNCTION private.log_audit(text,uuid,text,jsonb) OWNER TO answerscope_owner;
COMMENT ON FUNCTION private.log_audit(text,uuid,text,jsonb) IS 'Adds a line to the audit log.';
GRANT EXECUTE ON FUNCTION private.log_audit(text,uuid,text,jsonb) TO answerscope_service;

-- function private.log_audit_of_row()
CREATE OR REPLACE FUNCTION private.log_audit_of_row()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
DECLARE
    r      jsonb := to_jsonb(CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END);
    verb   text := CASE TG_OP WHEN 'INSERT' THEN 'added' WHEN 'DELETE' THEN 'deleted' ELSE 'changed' END;
    detail jsonb := '{}';
BEGIN
    IF TG_OP = 'UPDATE' THEN
        detail := (
            SELECT coalesce(jsonb_object_agg(key, jsonb_build_array(before.value, after.value)), '{}')
            FROM jsonb_each(to_jsonb(OLD)) AS before
            JOIN jsonb_each(r) AS after USING (key)
            WHERE before.value <> after.value AND key NOT IN ('updated_at', 'revision'));
        IF detail = '{}' THEN
            RETURN NULL;
        END IF;
    END IF;
    CASE TG_TABLE_NAME
        WHEN 'organizations' THEN
            PERFORM private.log_audit('organization ' || verb, (r ->> 'id')::uuid, r ->> 'slug', detail);
        WHEN 'users' THEN
            PERFORM private.log_audit(
                CASE
                    WHEN detail ? 'password_hash' THEN 'password set'
                    WHEN detail ? 'is_active' THEN CASE r ->> 'is_active' WHEN 'true' THEN 'user enabled' ELSE 'user disabled' END
                    ELSE 'user ' || verb
                END,
                (SELECT m.organization_id FROM public.members AS m WHERE m.user_id = (r ->> 'id')::uuid),
                r ->> 'email', detail - 'password_hash');
        WHEN 'members' THEN
            PERFORM private.log_audit('member ' || verb, (r ->> 'organization_id')::uuid,
                coalesce((SELECT u.email::text FROM private.users AS u WHERE u.id = (r ->> 'user_id')::uuid), r ->> 'user_id')
                    || ' as ' || (r ->> 'role'), detail);
        WHEN 'api_keys' THEN
            PERFORM private.log_audit('key ' || CASE WHEN TG_OP = 'UPDATE' AND r ->> 'revoked_at' IS NOT NULL THEN 'revoked' ELSE verb END,
                (r ->> 'organization_id')::uuid, (r ->> 'prefix') || '… ' || (r ->> 'name'), detail);
        WHEN 'brands' THEN
            PERFORM private.log_audit('brand ' || verb, (r ->> 'organization_id')::uuid, r ->> 'slug', detail);
    END CASE;
    RETURN OLD; -- a deletion before which it runs goes on
END
$function$;
ALTER FUNCTION private.log_audit_of_row() OWNER TO answerscope_owner;
COMMENT ON FUNCTION private.log_audit_of_row() IS NULL;

-- function private.log_budget()
CREATE OR REPLACE FUNCTION private.log_budget()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
BEGIN
    PERFORM private.log_audit('budget set', NEW.organization_id, coalesce(nullif(NEW.platform, ''), 'all platforms'),
        to_jsonb(NEW) - 'organization_id' - 'platform');
    RETURN NULL;
END
$function$;
ALTER FUNCTION private.log_budget() OWNER TO answerscope_owner;
COMMENT ON FUNCTION private.log_budget() IS NULL;

-- function private.log_deleted_prompts()
CREATE OR REPLACE FUNCTION private.log_deleted_prompts()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
BEGIN
    PERFORM private.log_audit('prompts deleted', b.organization_id, d.count || ' of ' || b.slug)
    FROM (SELECT brand_id, count(*) FROM deleted GROUP BY brand_id) AS d
    JOIN public.brands AS b ON b.id = d.brand_id;
    RETURN NULL;
END
$function$;
ALTER FUNCTION private.log_deleted_prompts() OWNER TO answerscope_owner;
COMMENT ON FUNCTION private.log_deleted_prompts() IS NULL;

-- function private.log_endpoint()
CREATE OR REPLACE FUNCTION private.log_endpoint()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
DECLARE
    r      public.webhook_endpoints := coalesce(NEW, OLD);
    action text := CASE TG_OP WHEN 'INSERT' THEN 'webhook added' WHEN 'DELETE' THEN 'webhook deleted' ELSE 'webhook changed' END;
BEGIN
    IF TG_OP = 'UPDATE' AND NEW.disabled_at IS NOT NULL AND OLD.disabled_at IS NULL THEN
        action := 'webhook disabled';
        UPDATE public.webhook_deliveries SET status = 'cancelled', holder = NULL, leased_until = NULL WHERE endpoint_id = r.id AND status = 'pending';
        PERFORM private.emit(r.organization_id, r.brand_id, 'webhook_endpoint.disabled', jsonb_build_object(
            'endpoint', jsonb_build_object('id', r.id, 'host', private.host_of(r.url), 'reason', r.disabled_reason)));
    END IF;
    PERFORM private.log_audit(action, r.organization_id, private.host_of(r.url), jsonb_build_object('id', r.id));
    RETURN NULL;
END
$function$;
ALTER FUNCTION private.log_endpoint() OWNER TO answerscope_owner;
COMMENT ON FUNCTION private.log_endpoint() IS NULL;

-- function private.log_invitation()
CREATE OR REPLACE FUNCTION private.log_invitation()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
BEGIN
    PERFORM private.log_audit(
        'invitation ' || CASE WHEN TG_OP = 'INSERT' THEN 'added' WHEN NEW.revoked_at IS NULL THEN 'accepted' ELSE 'revoked' END,
        NEW.organization_id, NEW.email::text || ' as ' || NEW.role);
    RETURN NULL;
END
$function$;
ALTER FUNCTION private.log_invitation() OWNER TO answerscope_owner;
COMMENT ON FUNCTION private.log_invitation() IS NULL;

-- function private.log_oauth_grant()
CREATE OR REPLACE FUNCTION private.log_oauth_grant()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
BEGIN
    PERFORM private.log_audit(CASE TG_OP WHEN 'DELETE' THEN 'app disconnected' ELSE 'app connected' END, OLD.organization_id,
        OLD.client_name, jsonb_build_object('client_id', OLD.client_id, 'redirect_uri', OLD.redirect_uri, 'scopes', OLD.scopes));
    RETURN NULL;
END
$function$;
ALTER FUNCTION private.log_oauth_grant() OWNER TO answerscope_owner;
COMMENT ON FUNCTION private.log_oauth_grant() IS NULL;

-- function private.log_provider_key()
CREATE OR REPLACE FUNCTION private.log_provider_key()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
BEGIN
    PERFORM private.log_audit(
        CASE TG_OP WHEN 'DELETE' THEN 'provider key removed' ELSE 'provider key set' END,
        coalesce(NEW.organization_id, OLD.organization_id), coalesce(NEW.platform, OLD.platform));
    RETURN NULL;
END
$function$;
ALTER FUNCTION private.log_provider_key() OWNER TO answerscope_owner;
COMMENT ON FUNCTION private.log_provider_key() IS NULL;

-- function private.log_provider_limits()
CREATE OR REPLACE FUNCTION private.log_provider_limits()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
BEGIN
    PERFORM private.log_audit('provider limits set', NEW.organization_id, NEW.platform,
        to_jsonb(NEW) - 'organization_id' - 'platform');
    RETURN NULL;
END
$function$;
ALTER FUNCTION private.log_provider_limits() OWNER TO answerscope_owner;
COMMENT ON FUNCTION private.log_provider_limits() IS NULL;

-- function private.log_provider_order()
CREATE OR REPLACE FUNCTION private.log_provider_order()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
BEGIN
    PERFORM private.log_audit('provider order set', NEW.organization_id, NEW.platform,
        jsonb_build_object('providers', NEW.providers));
    RETURN NULL;
END
$function$;
ALTER FUNCTION private.log_provider_order() OWNER TO answerscope_owner;
COMMENT ON FUNCTION private.log_provider_order() IS NULL;

-- function private.log_share_link()
CREATE OR REPLACE FUNCTION private.log_share_link()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
BEGIN
    PERFORM private.log_audit(CASE TG_OP WHEN 'INSERT' THEN 'share added' ELSE 'share revoked' END, NEW.organization_id,
        (SELECT b.slug FROM public.brands AS b WHERE b.id = NEW.brand_id) || ' ' || NEW.title);
    RETURN NULL;
END
$function$;
ALTER FUNCTION private.log_share_link() OWNER TO answerscope_owner;
COMMENT ON FUNCTION private.log_share_link() IS NULL;

-- function private.log_subscription()
CREATE OR REPLACE FUNCTION private.log_subscription()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
DECLARE
    r public.subscriptions := CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
BEGIN
    IF r.address IS NOT NULL THEN
        PERFORM private.log_audit('address ' || CASE TG_OP WHEN 'DELETE' THEN 'removed' ELSE 'subscribed' END, r.organization_id, r.address::text);
    END IF;
    RETURN NULL;
END
$function$;
ALTER FUNCTION private.log_subscription() OWNER TO answerscope_owner;
COMMENT ON FUNCTION private.log_subscription() IS NULL;

-- function private.mailed_events()
CREATE OR REPLACE FUNCTION private.mailed_events()
 RETURNS text[]
 LANGUAGE sql
 IMMUTABLE
 SET search_path TO ''
AS $function$
    SELECT ARRAY['visibility.moved', 'platform.degraded', 'platform.recovered', 'tracking.skipped', 'report.weekly']
$function$;
ALTER FUNCTION private.mailed_events() OWNER TO answerscope_owner;
COMMENT ON FUNCTION private.mailed_events() IS 'The types of events that a subscription may have.';
GRANT EXECUTE ON FUNCTION private.mailed_events() TO answerscope_service;
GRANT EXECUTE ON FUNCTION private.mailed_events() TO authenticated;

-- function private.next_daytime(organization uuid)
CREATE OR REPLACE FUNCTION private.next_daytime(organization uuid)
 RETURNS timestamp with time zone
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO ''
AS $function$
    SELECT CASE
        WHEN (now() AT TIME ZONE time_zone)::time BETWEEN '08:00' AND '20:00' THEN now()
        ELSE (date_trunc('day', now() AT TIME ZONE time_zone - INTERVAL '8 h') + INTERVAL '1 day 8 h') AT TIME ZONE time_zone
    END
    FROM public.organizations
    WHERE id = organization
$function$;
ALTER FUNCTION private.next_daytime(uuid) OWNER TO answerscope_owner;
COMMENT ON FUNCTION private.next_daytime(uuid) IS 'Now, if that is from 08:00 to 20:00 in the zone of an organization; else the next 08:00.';

-- function private.note_deleted_brands()
CREATE OR REPLACE FUNCTION private.note_deleted_brands()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
BEGIN
    PERFORM nextval('private.warehouse_changes');
    RETURN NULL;
END
$function$;
ALTER FUNCTION private.note_deleted_brands() OWNER TO answerscope_owner;
COMMENT ON FUNCTION private.note_deleted_brands() IS NULL;

-- function private.notify_sites()
CREATE OR REPLACE FUNCTION private.notify_sites()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
BEGIN
    IF EXISTS (SELECT FROM changed) THEN
        PERFORM pg_notify('answerscope_sites', '');
    END IF;
    RETURN NULL;
END
$function$;
ALTER FUNCTION private.notify_sites() OWNER TO answerscope_owner;
COMMENT ON FUNCTION private.notify_sites() IS NULL;

-- function private.org_id(at_least text)
CREATE OR REPLACE FUNCTION private.org_id(at_least text DEFAULT 'viewer'::text)
 RETURNS uuid
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO ''
AS $function$
    SELECT m.organization_id
    FROM public.members AS m
    JOIN private.users AS u ON u.id = m.user_id
    WHERE m.user_id = private.user_id()
      AND u.is_active
      AND private.rank(m.role) >= private.rank(at_least)
$function$;
ALTER FUNCTION private.org_id(text) OWNER TO answerscope_owner;
COMMENT ON FUNCTION private.org_id(text) IS 'The organization of the caller, if their role there is at_least or above; else null, which no policy lets pass.';
GRANT EXECUTE ON FUNCTION private.org_id(text) TO authenticated;

-- function private.protect(IN name regclass, IN rights text)
CREATE OR REPLACE PROCEDURE private.protect(IN name regclass, IN rights text DEFAULT 'SELECT, INSERT, UPDATE, DELETE'::text)
 LANGUAGE plpgsql
AS $procedure$
BEGIN
    EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('ALTER TABLE %s FORCE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY service ON %s TO answerscope_owner, answerscope_service USING (true) WITH CHECK (true)', name);
    EXECUTE format('GRANT %s ON %s TO answerscope_service', rights, name);
END
$procedure$;
ALTER FUNCTION private.protect(regclass,text) OWNER TO answerscope_owner;
COMMENT ON FUNCTION private.protect(regclass,text) IS NULL;

-- function private.punycode(label text)
CREATE OR REPLACE FUNCTION private.punycode(label text)
 RETURNS text
 LANGUAGE plpgsql
 IMMUTABLE
 SET search_path TO ''
AS $function$
DECLARE
    points  int[] := ARRAY(SELECT ascii(c) FROM regexp_split_to_table(label, '') WITH ORDINALITY AS u (c, n) ORDER BY n);
    encoded text := regexp_replace(label, '[^\x01-\x7f]', '', 'g');
    basic   int := char_length(encoded);
    done    int := basic;
    least   int := 128;
    delta   int := 0;
    bias    int := 72;
    next    int;
    point   int;
    q       int;
    k       int;
    digit   int;
    digits  CONSTANT text := 'abcdefghijklmnopqrstuvwxyz0123456789';
BEGIN
    IF basic > 0 THEN
        encoded := encoded || '-';
    END IF;
    WHILE done < cardinality(points) LOOP
        next := (SELECT min(p) FROM unnest(points) AS p WHERE p >= least);
        delta := delta + (next - least) * (done + 1);
        least := next;
        FOREACH point IN ARRAY points LOOP
            IF point < least THEN
                delta := delta + 1;
            ELSIF point = least THEN
                q := delta;
                k := 36;
                LOOP
                    digit := greatest(1, least(26, k - bias));
                    EXIT WHEN q < digit;
                    encoded := encoded || substr(digits, 1 + digit + (q - digit) % (36 - digit), 1);
                    q := (q - digit) / (36 - digit);
                    k := k + 36;
                END LOOP;
                encoded := encoded || substr(digits, 1 + q, 1);
                delta := CASE done WHEN basic THEN delta / 700 ELSE delta / 2 END;
                delta := delta + delta / (done + 1);
                k := 0;
                WHILE delta > 455 LOOP
                    delta := delta / 35;
                    k := k + 36;
                END LOOP;
                bias := k + 36 * delta / (delta + 38);
                delta := 0;
                done := done + 1;
            END IF;
        END LOOP;
        delta := delta + 1;
        least := least + 1;
    END LOOP;
    RETURN 'xn--' || encoded;
END
$function$;
ALTER FUNCTION private.punycode(text) OWNER TO answerscope_owner;
COMMENT ON FUNCTION private.punycode(text) IS 'A label of a host name that is not ASCII, encoded as RFC 3492 has it.';
GRANT EXECUTE ON FUNCTION private.punycode(text) TO answerscope_service;

-- function private.queue_rereads()
CREATE OR REPLACE FUNCTION private.queue_rereads()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
BEGIN
    INSERT INTO private.rereads AS r (brand_id, organization_id, urgent, asked_at, due_at)
    SELECT c.id, c.organization_id, true, clock_timestamp(), clock_timestamp() + INTERVAL '5 s'
    FROM changed AS c
    JOIN before AS b ON b.id = c.id
    WHERE c.revision <> b.revision
    ORDER BY c.id
    ON CONFLICT (brand_id) DO UPDATE SET
        urgent = true,
        asked_at = coalesce(r.asked_at, excluded.asked_at),
        due_at = least(excluded.due_at, coalesce(r.asked_at, excluded.asked_at) + INTERVAL '60 s'),
        first_day = NULL,
        last_day = NULL;
    RETURN NULL;
END
$function$;
ALTER FUNCTION private.queue_rereads() OWNER TO answerscope_owner;
COMMENT ON FUNCTION private.queue_rereads() IS NULL;

-- function private.rank(role text)
CREATE OR REPLACE FUNCTION private.rank(role text)
 RETURNS integer
 LANGUAGE sql
 IMMUTABLE
 SET search_path TO ''
AS $function$
    SELECT array_position(ARRAY['viewer', 'member', 'admin', 'owner'], role)
$function$;
ALTER FUNCTION private.rank(text) OWNER TO answerscope_owner;
COMMENT ON FUNCTION private.rank(text) IS NULL;
GRANT EXECUTE ON FUNCTION private.rank(text) TO answerscope_service;
GRANT EXECUTE ON FUNCTION private.rank(text) TO authenticated;

-- function private.rank_of_inviter(i invitations)
CREATE OR REPLACE FUNCTION private.rank_of_inviter(i invitations)
 RETURNS integer
 LANGUAGE sql
 STABLE
 SET search_path TO ''
AS $function$
    SELECT CASE
        WHEN i.invited_by IS NULL THEN private.rank('owner')
        ELSE (
            SELECT private.rank(m.role)
            FROM public.members AS m
            JOIN private.users AS u ON u.id = m.user_id
            WHERE m.user_id = i.invited_by AND m.organization_id = i.organization_id AND u.is_active)
    END
$function$;
ALTER FUNCTION private.rank_of_inviter(invitations) OWNER TO answerscope_owner;
COMMENT ON FUNCTION private.rank_of_inviter(invitations) IS 'The rank of the inviter now; null: they are no member any more.';
GRANT EXECUTE ON FUNCTION private.rank_of_inviter(invitations) TO answerscope_service;

-- function private.refuse_deleted()
CREATE OR REPLACE FUNCTION private.refuse_deleted()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
BEGIN
    IF EXISTS (SELECT FROM private.tombstones WHERE kind = TG_ARGV[0] AND id = NEW.id) THEN
        RAISE EXCEPTION 'the % % was deleted, and what is known of it is removed: leave the id out', TG_ARGV[0], NEW.id
            USING ERRCODE = 'check_violation', TABLE = TG_TABLE_NAME, SCHEMA = TG_TABLE_SCHEMA;
    END IF;
    RETURN NULL;
END
$function$;
ALTER FUNCTION private.refuse_deleted() OWNER TO answerscope_owner;
COMMENT ON FUNCTION private.refuse_deleted() IS NULL;

-- function private.refuse_move()
CREATE OR REPLACE FUNCTION private.refuse_move()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
BEGIN
    RAISE EXCEPTION 'a row of % keeps its id and its owner', TG_TABLE_NAME
        USING ERRCODE = 'insufficient_privilege', TABLE = TG_TABLE_NAME, SCHEMA = TG_TABLE_SCHEMA;
END
$function$;
ALTER FUNCTION private.refuse_move() OWNER TO answerscope_owner;
COMMENT ON FUNCTION private.refuse_move() IS NULL;

-- function private.reschedule()
CREATE OR REPLACE FUNCTION private.reschedule()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
BEGIN
    NEW.next_check_at := NULL;
    NEW.scheduled_at := now();
    RETURN NEW;
END
$function$;
ALTER FUNCTION private.reschedule() OWNER TO answerscope_owner;
COMMENT ON FUNCTION private.reschedule() IS NULL;

-- function private.revise_brand()
CREATE OR REPLACE FUNCTION private.revise_brand()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
BEGIN
    IF TG_OP = 'INSERT' THEN
        NEW.revision := 1;
    ELSIF (NEW.name, NEW.aliases) IS DISTINCT FROM (OLD.name, OLD.aliases) THEN
        NEW.revision := OLD.revision + 1;
    ELSIF current_user <> 'answerscope_owner' THEN
        NEW.revision := OLD.revision;
    END IF;
    RETURN NEW;
END
$function$;
ALTER FUNCTION private.revise_brand() OWNER TO answerscope_owner;
COMMENT ON FUNCTION private.revise_brand() IS NULL;

-- function private.revise_brands()
CREATE OR REPLACE FUNCTION private.revise_brands()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
BEGIN
    UPDATE public.brands SET revision = revision + 1 WHERE id IN (SELECT brand_id FROM changed);
    RETURN NULL;
END
$function$;
ALTER FUNCTION private.revise_brands() OWNER TO answerscope_owner;
COMMENT ON FUNCTION private.revise_brands() IS NULL;

-- function private.revise_brands_on_update()
CREATE OR REPLACE FUNCTION private.revise_brands_on_update()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
BEGIN
    UPDATE public.brands SET revision = revision + 1
    WHERE id IN (
        SELECT brand_id
        FROM (SELECT c.brand_id, to_jsonb(c) - TG_ARGV FROM changed AS c
              EXCEPT
              SELECT b.brand_id, to_jsonb(b) - TG_ARGV FROM before AS b) AS edited
    );
    RETURN NULL;
END
$function$;
ALTER FUNCTION private.revise_brands_on_update() OWNER TO answerscope_owner;
COMMENT ON FUNCTION private.revise_brands_on_update() IS NULL;

-- function private.river_job_state_in_bitmask(bitmask bit, state private.river_job_state)
CREATE OR REPLACE FUNCTION private.river_job_state_in_bitmask(bitmask bit, state private.river_job_state)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE
AS $function$
    SELECT CASE state
        WHEN 'available' THEN get_bit(bitmask, 7)
        WHEN 'cancelled' THEN get_bit(bitmask, 6)
        WHEN 'completed' THEN get_bit(bitmask, 5)
        WHEN 'discarded' THEN get_bit(bitmask, 4)
        WHEN 'pending'   THEN get_bit(bitmask, 3)
        WHEN 'retryable' THEN get_bit(bitmask, 2)
        WHEN 'running'   THEN get_bit(bitmask, 1)
        WHEN 'scheduled' THEN get_bit(bitmask, 0)
        ELSE 0
    END = 1;
$function$;
ALTER FUNCTION private.river_job_state_in_bitmask(bit,private.river_job_state) OWNER TO answerscope_owner;
COMMENT ON FUNCTION private.river_job_state_in_bitmask(bit,private.river_job_state) IS NULL;
GRANT EXECUTE ON FUNCTION private.river_job_state_in_bitmask(bit,private.river_job_state) TO answerscope_service;

-- function private.run_cost(state text, error_class text, cost numeric, estimate numeric)
CREATE OR REPLACE FUNCTION private.run_cost(state text, error_class text, cost numeric, estimate numeric)
 RETURNS numeric
 LANGUAGE sql
 IMMUTABLE
RETURN COALESCE(cost, CASE WHEN ((state = ANY (ARRAY['answered'::text, 'done'::text])) OR ((state = 'gave_up'::text) AND (error_class = ANY (ARRAY['changed_shape'::text, 'content_filtered'::text, 'timeout'::text])))) THEN estimate ELSE NULL::numeric END, (0)::numeric);
ALTER FUNCTION private.run_cost(text,text,numeric,numeric) OWNER TO answerscope_owner;
COMMENT ON FUNCTION private.run_cost(text,text,numeric,numeric) IS 'What a run has cost in US dollars. Where that is not known, the estimate of a run that was answered, or may have been.';
GRANT EXECUTE ON FUNCTION private.run_cost(text,text,numeric,numeric) TO answerscope_service;

-- function private.slug_of(name text, kind text)
CREATE OR REPLACE FUNCTION private.slug_of(name text, kind text)
 RETURNS text
 LANGUAGE plpgsql
 IMMUTABLE
 SET search_path TO ''
AS $function$
DECLARE
    slug text := lower(regexp_replace(normalize(name, NFKD), '[\u0300-\u036f''’]', '', 'g'));
BEGIN
    slug := translate(slug, 'ØøŁłĐđÐðŦŧı', 'oollddddtti');
    slug := replace(replace(replace(replace(slug, 'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe'), 'þ', 'th');
    slug := trim(BOTH '-' FROM left(trim(BOTH '-' FROM regexp_replace(slug, '[^a-z0-9]+', '-', 'g')), 60));
    RETURN coalesce(nullif(slug, ''), kind || '-' || left(encode(sha256(convert_to(name, 'UTF8')), 'hex'), 8));
END
$function$;
ALTER FUNCTION private.slug_of(text,text) OWNER TO answerscope_owner;
COMMENT ON FUNCTION private.slug_of(text,text) IS 'A name in ASCII letters, digits and hyphens; a name that has none of them, such as 日本語, becomes its kind and a digest.';
GRANT EXECUTE ON FUNCTION private.slug_of(text,text) TO answerscope_service;

-- function private.stamp()
CREATE OR REPLACE FUNCTION private.stamp()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
BEGIN
    IF TG_OP = 'UPDATE' THEN
        NEW.created_at := OLD.created_at;
        NEW.updated_at := now();
    ELSIF current_user = 'authenticated' THEN
        NEW.created_at := now();
        NEW.updated_at := now();
    END IF;
    RETURN NEW;
END
$function$;
ALTER FUNCTION private.stamp() OWNER TO answerscope_owner;
COMMENT ON FUNCTION private.stamp() IS NULL;

-- function private.user_id()
CREATE OR REPLACE FUNCTION private.user_id()
 RETURNS uuid
 LANGUAGE sql
 STABLE
 SET search_path TO ''
AS $function$
    SELECT CASE WHEN sub ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' THEN sub::uuid END
    FROM (SELECT nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> 'sub' AS sub) AS claims
$function$;
ALTER FUNCTION private.user_id() OWNER TO answerscope_owner;
COMMENT ON FUNCTION private.user_id() IS 'The user of this transaction, by its claims.';
GRANT EXECUTE ON FUNCTION private.user_id() TO authenticated;

-- function private.write_brand_changes()
CREATE OR REPLACE FUNCTION private.write_brand_changes()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
BEGIN
    INSERT INTO private.outbox (kind, row_id, organization_id, brand_id, payload, deleted)
    SELECT
        'brand', c.id, c.organization_id, c.id,
        jsonb_build_object(
            'name', c.name, 'slug', c.slug, 'aliases', c.aliases,
            'domains', ARRAY(SELECT d.domain FROM public.brand_domains AS d WHERE d.brand_id = c.id ORDER BY d.is_primary DESC, d.created_at, d.id),
            'industry', coalesce(c.industry, ''), 'region', coalesce(c.region, ''), 'language', coalesce(c.language, ''),
            'revision', c.revision, 'is_active', c.is_active),
        TG_OP = 'DELETE'
    FROM changed AS c;
    IF FOUND THEN
        PERFORM pg_notify('answerscope_outbox', '');
    END IF;
    RETURN NULL;
END
$function$;
ALTER FUNCTION private.write_brand_changes() OWNER TO answerscope_owner;
COMMENT ON FUNCTION private.write_brand_changes() IS NULL;

-- function private.write_competitor_changes()
CREATE OR REPLACE FUNCTION private.write_competitor_changes()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
BEGIN
    INSERT INTO private.outbox (kind, row_id, organization_id, brand_id, payload, deleted)
    SELECT
        'competitor', c.id, c.organization_id, c.brand_id,
        jsonb_build_object('name', c.name, 'aliases', c.aliases, 'domains', c.domains),
        TG_OP = 'DELETE'
    FROM changed AS c;
    IF FOUND THEN
        PERFORM pg_notify('answerscope_outbox', '');
    END IF;
    RETURN NULL;
END
$function$;
ALTER FUNCTION private.write_competitor_changes() OWNER TO answerscope_owner;
COMMENT ON FUNCTION private.write_competitor_changes() IS NULL;

-- function private.write_prompt_changes()
CREATE OR REPLACE FUNCTION private.write_prompt_changes()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
BEGIN
    INSERT INTO private.outbox (kind, row_id, organization_id, brand_id, payload, deleted)
    SELECT
        'prompt', c.id, c.organization_id, c.brand_id,
        jsonb_build_object('topic_id', c.topic_id, 'text', c.text, 'is_branded', c.is_branded, 'is_active', c.is_active),
        TG_OP = 'DELETE'
    FROM changed AS c;
    IF FOUND THEN
        PERFORM pg_notify('answerscope_outbox', '');
    END IF;
    RETURN NULL;
END
$function$;
ALTER FUNCTION private.write_prompt_changes() OWNER TO answerscope_owner;
COMMENT ON FUNCTION private.write_prompt_changes() IS NULL;

-- function private.write_topic_changes()
CREATE OR REPLACE FUNCTION private.write_topic_changes()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
BEGIN
    INSERT INTO private.outbox (kind, row_id, organization_id, brand_id, payload, deleted)
    SELECT
        'topic', c.id, c.organization_id, c.brand_id,
        jsonb_build_object('name', c.name, 'is_active', c.is_active),
        TG_OP = 'DELETE'
    FROM changed AS c;
    IF FOUND THEN
        PERFORM pg_notify('answerscope_outbox', '');
    END IF;
    RETURN NULL;
END
$function$;
ALTER FUNCTION private.write_topic_changes() OWNER TO answerscope_owner;
COMMENT ON FUNCTION private.write_topic_changes() IS NULL;

-- function public.create_content_brief(p_suggestion_id uuid)
CREATE OR REPLACE FUNCTION public.create_content_brief(p_suggestion_id uuid)
 RETURNS content_briefs
 LANGUAGE sql
 SET search_path TO ''
AS $function$
    INSERT INTO public.content_briefs (brand_id, suggestion_id, title, body, evidence)
    SELECT (SELECT s.brand_id FROM public.suggestions AS s WHERE s.id = p_suggestion_id), p_suggestion_id,
           brief ->> 'title', brief ->> 'body', brief -> 'evidence'
    FROM (SELECT nullif(current_setting('request.prepared', true), '')::jsonb AS brief) AS prepared
    RETURNING *
$function$;
ALTER FUNCTION create_content_brief(uuid) OWNER TO answerscope_owner;
COMMENT ON FUNCTION create_content_brief(uuid) IS 'Adds the brief of a suggestion, which the server has written before the call: the setting request.prepared.';
GRANT EXECUTE ON FUNCTION create_content_brief(uuid) TO answerscope_service;
GRANT EXECUTE ON FUNCTION create_content_brief(uuid) TO authenticated;

-- function public.get_latest_prompt_results(p_brand_id uuid, p_platform text)
CREATE OR REPLACE FUNCTION public.get_latest_prompt_results(p_brand_id uuid, p_platform text DEFAULT NULL::text)
 RETURNS SETOF prompt_results
 LANGUAGE sql
 STABLE
 SET search_path TO ''
AS $function$
    SELECT result.*
    FROM public.prompts AS p
    CROSS JOIN LATERAL (
        SELECT DISTINCT ON (r.platform) r.id
        FROM public.prompt_results AS r
        WHERE r.prompt_id = p.id
          AND (p_platform IS NULL OR r.platform = p_platform)
        ORDER BY r.platform, r.created_at DESC, r.id DESC
    ) AS newest
    JOIN public.prompt_results AS result ON result.id = newest.id
    WHERE p.brand_id = p_brand_id
    ORDER BY result.created_at DESC, result.id DESC
$function$;
ALTER FUNCTION get_latest_prompt_results(uuid,text) OWNER TO answerscope_owner;
COMMENT ON FUNCTION get_latest_prompt_results(uuid,text) IS 'The newest row of each prompt and platform of a brand, newest first; of one platform if it is named.';
GRANT EXECUTE ON FUNCTION get_latest_prompt_results(uuid,text) TO answerscope_service;
GRANT EXECUTE ON FUNCTION get_latest_prompt_results(uuid,text) TO authenticated;
