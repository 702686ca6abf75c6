CREATE TABLE public.prompts (
    id              uuid DEFAULT gen_random_uuid() CONSTRAINT prompts_pkey PRIMARY KEY,
    prompt_set_id   uuid NOT NULL,
    brand_id        uuid NOT NULL,
    topic_id        uuid,
    organization_id uuid NOT NULL,
    text            text NOT NULL CONSTRAINT prompts_text_length CHECK (octet_length(text) BETWEEN 1 AND 32768),
    category        text CONSTRAINT prompts_category_length CHECK (char_length(category) <= 200),
    platforms       text[] NOT NULL DEFAULT '{}' CONSTRAINT prompts_platforms_are_words CHECK (private.are_words(platforms)),
    models          text[] NOT NULL DEFAULT '{}' CONSTRAINT prompts_models_are_words CHECK (private.are_words(models)),
    regions         text[] NOT NULL DEFAULT '{}' CONSTRAINT prompts_regions_are_words CHECK (private.are_words(regions)),
    samples         int NOT NULL DEFAULT 1 CONSTRAINT prompts_samples_range CHECK (samples BETWEEN 1 AND 10),
    is_branded      bool,
    is_active       bool NOT NULL DEFAULT true,
    created_at      timestamptz NOT NULL DEFAULT now(),
    updated_at      timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT prompts_prompt_set_id_fkey FOREIGN KEY (prompt_set_id) REFERENCES public.prompt_sets ON DELETE CASCADE,
    CONSTRAINT prompts_topic_id_fkey FOREIGN KEY (topic_id) REFERENCES public.topics ON DELETE SET NULL,
    CONSTRAINT prompts_brand_id_fkey FOREIGN KEY (brand_id) REFERENCES public.brands ON DELETE CASCADE,
    CONSTRAINT prompts_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations ON DELETE CASCADE
);
CREATE INDEX prompts_prompt_set_id_idx ON public.prompts (prompt_set_id);
CREATE INDEX prompts_brand_id_text_idx ON public.prompts (brand_id, hashtextextended(text, 0)); -- a text may be too long for an index
CREATE INDEX prompts_topic_id_idx ON public.prompts (topic_id);
CREATE INDEX prompts_organization_id_idx ON public.prompts (organization_id);
COMMENT ON TABLE public.prompts IS 'What AI platforms are asked for a brand.';
COMMENT ON COLUMN public.prompts.brand_id IS 'The prompt set''s; filled when missing.';
COMMENT ON COLUMN public.prompts.organization_id IS 'The brand''s; filled.';
COMMENT ON COLUMN public.prompts.platforms IS 'Empty: the brand''s.';
COMMENT ON COLUMN public.prompts.models IS 'Empty: the brand''s.';
COMMENT ON COLUMN public.prompts.regions IS 'Empty: the brand''s.';
COMMENT ON COLUMN public.prompts.samples IS 'How often it is asked each time.';
COMMENT ON COLUMN public.prompts.is_branded IS 'Null: decided by whether the text names the brand.';

-- As private.fill_from_brand, by the prompt set. A prompt's set and topic belong to its brand.
CREATE FUNCTION private.fill_from_prompt_set() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $$
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
$$;

CREATE FUNCTION private.write_prompt_changes() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $$
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
$$;

CREATE TRIGGER fill BEFORE INSERT ON public.prompts
    FOR EACH ROW EXECUTE FUNCTION private.fill_from_prompt_set();
CREATE TRIGGER fill_moved BEFORE UPDATE ON public.prompts -- not when a deleted topic leaves null, since the set may be deleted too
    FOR EACH ROW WHEN (OLD.prompt_set_id <> NEW.prompt_set_id OR OLD.topic_id IS DISTINCT FROM NEW.topic_id AND NEW.topic_id IS NOT NULL)
    EXECUTE FUNCTION private.fill_from_prompt_set();
CALL private.anchor('public.prompts');
CALL private.follow('public.prompts', 'write_changes', 'write_prompt_changes');

CALL private.protect('public.prompts');
CALL private.admit('public.prompts', 'viewer', 'member');
