-- Suggestions that are computed: each has a key, by which it is found again, and the counts that it rests on. People
-- decide what becomes of it; only the computation changes what it says.
ALTER TABLE public.suggestions
    DROP CONSTRAINT suggestions_kind_is_known,
    DROP CONSTRAINT suggestions_brand_id_kind_text_key,
    ADD CONSTRAINT suggestions_kind_is_known
        CHECK (kind IN ('prompt', 'topic', 'gap', 'source', 'competitor', 'page', 'theme', 'alias')),
    ADD COLUMN key             text NOT NULL DEFAULT '' CONSTRAINT suggestions_key_length CHECK (octet_length(key) <= 512), -- in an index
    ADD COLUMN score           numeric,
    ADD COLUMN origin          text NOT NULL DEFAULT 'person' CONSTRAINT suggestions_origin_is_known CHECK (origin IN ('computed', 'person')),
    ADD COLUMN computed_at     timestamptz,
    ADD COLUMN dismissed_at    timestamptz,
    ADD COLUMN dismissed_score numeric,
    ADD CONSTRAINT suggestions_key_is_computed CHECK ((key <> '') = (origin = 'computed')),
    ADD CONSTRAINT suggestions_brand_id_kind_text_key_key UNIQUE (brand_id, kind, text, key); -- of a person's by the text
CREATE INDEX suggestions_brand_id_kind_idx ON public.suggestions (brand_id, kind);
CREATE UNIQUE INDEX suggestions_brand_id_kind_key_key ON public.suggestions (brand_id, kind, key) WHERE key <> '';
COMMENT ON COLUMN public.suggestions.key IS 'Identifies a computed one within its brand and kind; empty: a person''s.';
COMMENT ON COLUMN public.suggestions.score IS 'Ranks it within its kind; null: not known.';
COMMENT ON COLUMN public.suggestions.origin IS 'Who made it. Of a computed one clients change status and added_prompt_id alone.';
COMMENT ON COLUMN public.suggestions.expires_at IS 'From then on it no longer holds; null: it stays.';
COMMENT ON COLUMN public.suggestions.computed_at IS 'When the counts were last computed; null: a person''s.';
COMMENT ON COLUMN public.suggestions.dismissed_at IS 'Filled when it is dismissed, as dismissed_score.';

CREATE FUNCTION private.guard_suggestion() RETURNS trigger
LANGUAGE plpgsql SET search_path = '' AS $$
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
$$;
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON public.suggestions
    FOR EACH ROW EXECUTE FUNCTION private.guard_suggestion();

CREATE TABLE private.advice_runs (
    brand_id        uuid CONSTRAINT advice_runs_pkey PRIMARY KEY CONSTRAINT advice_runs_brand_id_fkey REFERENCES public.brands ON DELETE CASCADE,
    organization_id uuid NOT NULL CONSTRAINT advice_runs_organization_id_fkey REFERENCES public.organizations ON DELETE CASCADE,
    inputs          jsonb NOT NULL,
    rules_version   int NOT NULL,
    date_from       date NOT NULL,
    date_to         date NOT NULL,
    totals          jsonb NOT NULL,
    reasons         jsonb NOT NULL,
    computed_at     timestamptz NOT NULL
);
CREATE INDEX advice_runs_organization_id_idx ON private.advice_runs (organization_id);
COMMENT ON TABLE private.advice_runs IS 'The last computation of each brand''s suggestions.';
COMMENT ON COLUMN private.advice_runs.inputs IS 'What it depends on beside the window; when that differs the brand is computed again.';
COMMENT ON COLUMN private.advice_runs.totals IS 'By kind: how many there were, are stored, were tried, and are expected by chance.';
COMMENT ON COLUMN private.advice_runs.reasons IS 'Why a kind has none, or may lack some.';

CALL private.protect('private.advice_runs', 'SELECT, INSERT, UPDATE');
