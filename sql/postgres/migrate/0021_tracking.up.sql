-- Tracking jobs and their runs, which clients read and the tracking server writes. By the rows of runs a retry asks
-- only the missing ones.
CREATE TABLE public.tracking_jobs (
    id              uuid DEFAULT gen_random_uuid() CONSTRAINT tracking_jobs_pkey PRIMARY KEY,
    organization_id uuid NOT NULL CONSTRAINT tracking_jobs_organization_id_fkey REFERENCES public.organizations ON DELETE CASCADE,
    brand_id        uuid NOT NULL CONSTRAINT tracking_jobs_brand_id_fkey REFERENCES public.brands ON DELETE CASCADE,
    requested_by    uuid CONSTRAINT tracking_jobs_requested_by_fkey REFERENCES private.users ON DELETE SET NULL,
    status          text NOT NULL DEFAULT 'waiting'
                    CONSTRAINT tracking_jobs_status_is_known CHECK (status IN ('waiting', 'active', 'completed', 'failed', 'cancelled')),
    phase           text NOT NULL DEFAULT 'queued'
                    CONSTRAINT tracking_jobs_phase_is_known CHECK (phase IN ('queued', 'asking', 'landing', 'done')),
    completed       int NOT NULL DEFAULT 0,
    total           int NOT NULL CONSTRAINT tracking_jobs_total_bounds_completed CHECK (completed BETWEEN 0 AND total),
    result          jsonb,
    failed_reason   text CONSTRAINT tracking_jobs_failed_reason_length CHECK (octet_length(failed_reason) <= 8192),
    request         jsonb NOT NULL DEFAULT '{}',
    plan            bytea,
    claim           bigint NOT NULL DEFAULT 0,
    estimated_cost  numeric CONSTRAINT tracking_jobs_estimated_cost_is_positive CHECK (estimated_cost >= 0),
    cost            numeric NOT NULL DEFAULT 0 CONSTRAINT tracking_jobs_cost_is_positive CHECK (cost >= 0),
    currency        text NOT NULL DEFAULT 'USD' CONSTRAINT tracking_jobs_currency_is_known CHECK (currency = 'USD'),
    idempotency_key text CONSTRAINT tracking_jobs_idempotency_key_length CHECK (octet_length(idempotency_key) BETWEEN 1 AND 512),
    started_at      timestamptz,
    cancelled_at    timestamptz,
    finished_at     timestamptz,
    created_at      timestamptz NOT NULL DEFAULT now(),
    updated_at      timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX tracking_jobs_organization_id_idx ON public.tracking_jobs (organization_id, created_at DESC, id DESC);
CREATE INDEX tracking_jobs_brand_id_idx ON public.tracking_jobs (brand_id, created_at DESC, id DESC);
CREATE INDEX tracking_jobs_requested_by_idx ON public.tracking_jobs (requested_by);
CREATE INDEX tracking_jobs_idempotency_key_idx ON public.tracking_jobs (organization_id, idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE INDEX tracking_jobs_running_idx ON public.tracking_jobs (brand_id, plan) WHERE status IN ('waiting', 'active');
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

CREATE TABLE public.tracking_runs (
    id              uuid DEFAULT gen_random_uuid() CONSTRAINT tracking_runs_pkey PRIMARY KEY,
    organization_id uuid NOT NULL CONSTRAINT tracking_runs_organization_id_fkey REFERENCES public.organizations ON DELETE CASCADE,
    job_id          uuid NOT NULL CONSTRAINT tracking_runs_job_id_fkey REFERENCES public.tracking_jobs ON DELETE CASCADE,
    prompt_id       uuid NOT NULL,
    platform        text NOT NULL CONSTRAINT tracking_runs_platform_length CHECK (octet_length(platform) BETWEEN 1 AND 200),
    model           text NOT NULL CONSTRAINT tracking_runs_model_length CHECK (octet_length(model) <= 512),
    region          text NOT NULL CONSTRAINT tracking_runs_region_length CHECK (octet_length(region) <= 512),
    sample          int NOT NULL CONSTRAINT tracking_runs_sample_range CHECK (sample BETWEEN 1 AND 10),
    slot            timestamptz NOT NULL DEFAULT now(),
    prompt          jsonb NOT NULL DEFAULT '{}',
    state           text NOT NULL DEFAULT 'queued'
                    CONSTRAINT tracking_runs_state_is_known CHECK (state IN ('queued', 'asking', 'answered', 'done', 'gave_up', 'cancelled')),
    attempts        int NOT NULL DEFAULT 0,
    repeats         int NOT NULL DEFAULT 0,
    is_unknown      bool NOT NULL DEFAULT false,
    not_shown       bool NOT NULL DEFAULT false,
    rate_limited    int NOT NULL DEFAULT 0,
    next_attempt_at timestamptz,
    error_class     text CONSTRAINT tracking_runs_error_class_length CHECK (octet_length(error_class) <= 100),
    error           text CONSTRAINT tracking_runs_error_length CHECK (octet_length(error) <= 8192),
    estimate        numeric,
    cost            numeric,
    provider        text CONSTRAINT tracking_runs_provider_length CHECK (octet_length(provider) BETWEEN 1 AND 64),
    provider_job    text CONSTRAINT tracking_runs_provider_job_length CHECK (octet_length(provider_job) BETWEEN 1 AND 512),
    submitted_at    timestamptz,
    late_jobs       text[] NOT NULL DEFAULT '{}' CONSTRAINT tracking_runs_late_jobs_count CHECK (cardinality(late_jobs) <= 10),
    answer_id       uuid NOT NULL DEFAULT gen_random_uuid() CONSTRAINT tracking_runs_answer_id_key UNIQUE,
    answer          json,
    created_at      timestamptz NOT NULL DEFAULT now(),
    updated_at      timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT tracking_runs_identity_key UNIQUE (job_id, prompt_id, platform, model, region, sample)
);
CREATE INDEX tracking_runs_organization_id_idx ON public.tracking_runs (organization_id);
CREATE INDEX tracking_runs_answer_idx ON public.tracking_runs (job_id) WHERE answer IS NOT NULL;
CREATE INDEX tracking_runs_waiting_idx ON public.tracking_runs (organization_id, prompt_id, platform, model, region, sample) WHERE state = 'queued';
-- An identical question in flight is asked once.
CREATE UNIQUE INDEX tracking_runs_asking_key ON public.tracking_runs (organization_id, prompt_id, platform, model, region, sample) WHERE state = 'asking';
COMMENT ON TABLE public.tracking_runs IS 'One row per prompt, platform, model, region and sample of a job.';
COMMENT ON COLUMN public.tracking_runs.prompt_id IS 'Kept when the prompt is deleted.';
COMMENT ON COLUMN public.tracking_runs.model IS 'The requested model; empty where the platform has no choice.';
COMMENT ON COLUMN public.tracking_runs.region IS 'A country in lower case, or empty.';
COMMENT ON COLUMN public.tracking_runs.attempts IS 'Requests that were sent.';
COMMENT ON COLUMN public.tracking_runs.error_class IS 'Of the last attempt that failed.';
COMMENT ON COLUMN public.tracking_runs.slot IS 'When it was due: the start of the hour, day, week or month; of a manual job, its creation.';
COMMENT ON COLUMN public.tracking_runs.prompt IS 'The prompt at the start of the job, as records contain it.';
COMMENT ON COLUMN public.tracking_runs.repeats IS 'Requests sent after one whose outcome was not known.';
COMMENT ON COLUMN public.tracking_runs.is_unknown IS 'Whether the outcome of the last request is not known: its process ended.';
COMMENT ON COLUMN public.tracking_runs.not_shown IS 'Whether it was answered by seeing that the surface showed no answer.';
COMMENT ON COLUMN public.tracking_runs.rate_limited IS 'Requests that do not use up the retries of a run: refused for a rate limit, by a capture provider that another one replaces, or that fails again and again, at nothing.';
COMMENT ON COLUMN public.tracking_runs.estimate IS 'Its cost in US dollars, before it was asked; null: not known.';
COMMENT ON COLUMN public.tracking_runs.cost IS 'The cost of all its requests in US dollars; null: not known.';
COMMENT ON COLUMN public.tracking_runs.provider IS 'The capture provider that was asked last; null: the platform''s API.';
COMMENT ON COLUMN public.tracking_runs.provider_job IS 'The last job that a provider has accepted.';
COMMENT ON COLUMN public.tracking_runs.submitted_at IS 'When the provider accepted the job, which is waited for while the run is being asked, and not submitted again; null while it is queued.';
COMMENT ON COLUMN public.tracking_runs.late_jobs IS 'Jobs that took too long, and whose captures still count: the provider, a space and its job.';
COMMENT ON COLUMN public.tracking_runs.answer_id IS 'Made of the question and the slot, so that a slot that comes twice is asked once.';
COMMENT ON COLUMN public.tracking_runs.answer IS 'Its record until it is on the log.';

CREATE FUNCTION private.run_cost(state text, error_class text, cost numeric, estimate numeric) RETURNS numeric
LANGUAGE sql IMMUTABLE RETURN coalesce(cost, CASE
    WHEN state IN ('answered', 'done') OR state = 'gave_up' AND error_class IN ('changed_shape', 'content_filtered', 'timeout') THEN estimate
END, 0);
COMMENT ON FUNCTION private.run_cost(text, text, numeric, numeric) IS 'What a run has cost in US dollars. Where that is not known, the estimate of a run that was answered, or may have been.';
GRANT EXECUTE ON FUNCTION private.run_cost(text, text, numeric, numeric) TO answerscope_service;

CREATE TRIGGER stamp BEFORE UPDATE ON public.tracking_jobs
    FOR EACH ROW EXECUTE FUNCTION private.stamp();
CREATE TRIGGER stamp BEFORE UPDATE ON public.tracking_runs
    FOR EACH ROW EXECUTE FUNCTION private.stamp();

CALL private.protect('public.tracking_jobs');
CALL private.admit('public.tracking_jobs', 'viewer');

CALL private.protect('public.tracking_runs');
CALL private.admit('public.tracking_runs', 'viewer');
