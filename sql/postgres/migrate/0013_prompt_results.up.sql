-- Answers with their readings, for clients that read rows, written by the pipeline from the log. A row is deleted with
-- its prompt or brand, and when it is old and no longer the newest of its prompt and platform.
CREATE TABLE public.prompt_results (
    id                  uuid CONSTRAINT prompt_results_pkey PRIMARY KEY,
    prompt_id           uuid NOT NULL CONSTRAINT prompt_results_prompt_id_fkey REFERENCES public.prompts ON DELETE CASCADE,
    brand_id            uuid NOT NULL CONSTRAINT prompt_results_brand_id_fkey REFERENCES public.brands ON DELETE CASCADE,
    organization_id     uuid NOT NULL CONSTRAINT prompt_results_organization_id_fkey REFERENCES public.organizations ON DELETE CASCADE,
    platform            text NOT NULL CONSTRAINT prompt_results_platform_length CHECK (octet_length(platform) <= 512),
    model_used          text NOT NULL CONSTRAINT prompt_results_model_used_length CHECK (octet_length(model_used) <= 2048),
    served_model        text CONSTRAINT prompt_results_served_model_length CHECK (octet_length(served_model) <= 2048),
    provider            text CONSTRAINT prompt_results_provider_length CHECK (octet_length(provider) <= 64),
    region              text NOT NULL CONSTRAINT prompt_results_region_length CHECK (octet_length(region) <= 512),
    sample              bigint NOT NULL,
    finish              text CONSTRAINT prompt_results_finish_is_known CHECK (finish IN ('complete', 'truncated', 'content_filtered', 'not_shown')),
    response            text NOT NULL CONSTRAINT prompt_results_response_length CHECK (octet_length(response) <= 8388608),
    citations           jsonb NOT NULL,
    mention_count       int NOT NULL,
    citation_count      int NOT NULL,
    mention_position    int,
    sentiment           text NOT NULL CONSTRAINT prompt_results_sentiment_is_known CHECK (sentiment IN ('positive', 'neutral', 'negative', 'unknown')),
    visibility_score    int,
    competitor_mentions jsonb NOT NULL,
    search_queries      jsonb NOT NULL,
    job_id              uuid,
    revision            bigint NOT NULL,
    extract_version     int NOT NULL,
    created_at          timestamptz NOT NULL,
    updated_at          timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX prompt_results_prompt_id_idx ON public.prompt_results (prompt_id, platform, created_at DESC, id DESC) INCLUDE (organization_id);
CREATE INDEX prompt_results_brand_id_idx ON public.prompt_results (brand_id, created_at DESC, id DESC) INCLUDE (extract_version);
CREATE INDEX prompt_results_organization_id_idx ON public.prompt_results (organization_id);
COMMENT ON TABLE public.prompt_results IS 'One row an answer: what it says, and its reading.';
COMMENT ON COLUMN public.prompt_results.id IS 'The id of the answer.';
COMMENT ON COLUMN public.prompt_results.model_used IS 'The requested model; empty where none was asked for.';
COMMENT ON COLUMN public.prompt_results.served_model IS 'What the platform says answered; null where it does not say.';
COMMENT ON COLUMN public.prompt_results.provider IS 'Who captured the surface; null where the platform was asked itself.';
COMMENT ON COLUMN public.prompt_results.region IS 'Empty where none was asked for.';
COMMENT ON COLUMN public.prompt_results.finish IS 'How the text ended; not_shown: the surface was seen and had no answer, which counts in no rate; null: unknown.';
COMMENT ON COLUMN public.prompt_results.visibility_score IS 'The legacy intensity, 0 to 100; null where the surface had no answer.';
COMMENT ON COLUMN public.prompt_results.citations IS 'A list of {url, title, cited, type}, each URL once; of those that are not cited but consulted, cited is false.';
COMMENT ON COLUMN public.prompt_results.citation_count IS 'Citations of the brand''s own domains.';
COMMENT ON COLUMN public.prompt_results.mention_position IS '1 + how many other tracked entities are named earlier; null when the brand is not named.';
COMMENT ON COLUMN public.prompt_results.competitor_mentions IS 'A list of {competitor_id, name, mention_count, citation_count, visibility_score, mention_position}, of all competitors.';
COMMENT ON COLUMN public.prompt_results.search_queries IS 'A list of texts.';
COMMENT ON COLUMN public.prompt_results.revision IS 'The brand''s revision whose names it is read by.';
COMMENT ON COLUMN public.prompt_results.extract_version IS 'The version of the extractor that read it.';
COMMENT ON COLUMN public.prompt_results.created_at IS 'When it was answered.';
COMMENT ON COLUMN public.prompt_results.updated_at IS 'When the row was written, or last read again.';

CREATE TRIGGER stamp BEFORE UPDATE ON public.prompt_results
    FOR EACH ROW EXECUTE FUNCTION private.stamp();

CALL private.protect('public.prompt_results');
CALL private.admit('public.prompt_results', 'viewer');

-- The newest result of each prompt and platform is found in the index alone, a prompt at a time and so without a sort,
-- with any statistics of the planner; only those rows are read.
CREATE FUNCTION public.get_latest_prompt_results(p_brand_id uuid, p_platform text DEFAULT NULL) RETURNS SETOF public.prompt_results
LANGUAGE sql STABLE SECURITY INVOKER SET search_path = '' AS $$
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
$$;
COMMENT ON FUNCTION public.get_latest_prompt_results(uuid, text) IS
    'The newest row of each prompt and platform of a brand, newest first; of one platform if it is named.';
GRANT EXECUTE ON FUNCTION public.get_latest_prompt_results(uuid, text) TO answerscope_service, authenticated;
