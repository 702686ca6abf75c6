-- Tracking jobs and their runs, which clients read and the tracking server writes. A run's row is what makes a retry ask
-- only for what is missing.
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
    idempotency_key text CONSTRAINT tracking_jobs_idempotency_key_length CHECK (octet_length(idempotency_key) BETWEEN 1 AND 512),
    started_at      timestamptz,
    finished_at     timestamptz,
    created_at      timestamptz NOT NULL DEFAULT now(),
    updated_at      timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX tracking_jobs_organization_id_idx ON public.tracking_jobs (organization_id, created_at DESC, id DESC);
CREATE INDEX tracking_jobs_brand_id_idx ON public.tracking_jobs (brand_id, created_at DESC, id DESC);
CREATE INDEX tracking_jobs_requested_by_idx ON public.tracking_jobs (requested_by);
CREATE INDEX tracking_jobs_idempotency_key_idx ON public.tracking_jobs (organization_id, idempotency_key) WHERE idempotency_key IS NOT NULL;
COMMENT ON TABLE public.tracking_jobs IS 'What was asked to be asked, and how far it is.';
COMMENT ON COLUMN public.tracking_jobs.requested_by IS 'Who started it; null: a schedule, the command line, or a user who is gone.';
COMMENT ON COLUMN public.tracking_jobs.completed IS 'Runs that were answered, given up or cancelled. It never falls.';
COMMENT ON COLUMN public.tracking_jobs.total IS 'Its runs.';
COMMENT ON COLUMN public.tracking_jobs.result IS 'Null until it has finished.';
COMMENT ON COLUMN public.tracking_jobs.request IS 'The body that started it.';

CREATE TABLE public.tracking_runs (
    id              uuid DEFAULT gen_random_uuid() CONSTRAINT tracking_runs_pkey PRIMARY KEY,
    organization_id uuid NOT NULL CONSTRAINT tracking_runs_organization_id_fkey REFERENCES public.organizations ON DELETE CASCADE,
    job_id          uuid NOT NULL CONSTRAINT tracking_runs_job_id_fkey REFERENCES public.tracking_jobs ON DELETE CASCADE,
    prompt_id       uuid NOT NULL,
    platform        text NOT NULL CONSTRAINT tracking_runs_platform_length CHECK (octet_length(platform) BETWEEN 1 AND 200),
    model           text NOT NULL CONSTRAINT tracking_runs_model_length CHECK (octet_length(model) <= 2048),
    region          text NOT NULL CONSTRAINT tracking_runs_region_length CHECK (octet_length(region) <= 512),
    sample          int NOT NULL CONSTRAINT tracking_runs_sample_range CHECK (sample BETWEEN 1 AND 10),
    state           text NOT NULL DEFAULT 'queued'
                    CONSTRAINT tracking_runs_state_is_known CHECK (state IN ('queued', 'asking', 'answered', 'done', 'gave_up', 'cancelled')),
    attempts        int NOT NULL DEFAULT 0,
    next_attempt_at timestamptz,
    error_class     text CONSTRAINT tracking_runs_error_class_length CHECK (octet_length(error_class) <= 100),
    error           text CONSTRAINT tracking_runs_error_length CHECK (octet_length(error) <= 8192),
    cost            jsonb,
    answer_id       uuid,
    created_at      timestamptz NOT NULL DEFAULT now(),
    updated_at      timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT tracking_runs_identity_key UNIQUE (job_id, prompt_id, platform, model, region, sample)
);
CREATE INDEX tracking_runs_organization_id_idx ON public.tracking_runs (organization_id);
COMMENT ON TABLE public.tracking_runs IS 'One row per prompt, platform, model, region and sample of a job.';
COMMENT ON COLUMN public.tracking_runs.prompt_id IS 'Kept when the prompt is deleted.';
COMMENT ON COLUMN public.tracking_runs.model IS 'The requested model; empty where the platform has no choice.';
COMMENT ON COLUMN public.tracking_runs.region IS 'A country in lower case, or empty.';
COMMENT ON COLUMN public.tracking_runs.attempts IS 'Requests that were sent.';
COMMENT ON COLUMN public.tracking_runs.error_class IS 'Of the last attempt that failed.';

CREATE TRIGGER stamp BEFORE UPDATE ON public.tracking_jobs
    FOR EACH ROW EXECUTE FUNCTION private.stamp();
CREATE TRIGGER stamp BEFORE UPDATE ON public.tracking_runs
    FOR EACH ROW EXECUTE FUNCTION private.stamp();

ALTER TABLE public.tracking_jobs ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.tracking_jobs FORCE ROW LEVEL SECURITY;
CREATE POLICY service ON public.tracking_jobs TO answerscope_owner, answerscope_service USING (true) WITH CHECK (true);
CREATE POLICY reads ON public.tracking_jobs FOR SELECT TO authenticated USING (organization_id = (SELECT private.org_id()));
GRANT SELECT, INSERT, UPDATE, DELETE ON public.tracking_jobs TO answerscope_service;
GRANT SELECT ON public.tracking_jobs TO authenticated;

ALTER TABLE public.tracking_runs ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.tracking_runs FORCE ROW LEVEL SECURITY;
CREATE POLICY service ON public.tracking_runs TO answerscope_owner, answerscope_service USING (true) WITH CHECK (true);
CREATE POLICY reads ON public.tracking_runs FOR SELECT TO authenticated USING (organization_id = (SELECT private.org_id()));
GRANT SELECT, INSERT, UPDATE, DELETE ON public.tracking_runs TO answerscope_service;
GRANT SELECT ON public.tracking_runs TO authenticated;
