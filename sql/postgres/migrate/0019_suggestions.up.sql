CREATE TABLE public.suggestions (
    id              uuid DEFAULT gen_random_uuid() CONSTRAINT suggestions_pkey PRIMARY KEY,
    brand_id        uuid NOT NULL,
    organization_id uuid NOT NULL,
    kind            text NOT NULL CONSTRAINT suggestions_kind_is_known CHECK (kind IN ('prompt', 'topic', 'gap', 'source')),
    text            text NOT NULL CONSTRAINT suggestions_text_length CHECK (octet_length(text) BETWEEN 1 AND 2000), -- in an index
    reason          text CONSTRAINT suggestions_reason_length CHECK (octet_length(reason) <= 8192),
    evidence        jsonb NOT NULL DEFAULT '{}' CONSTRAINT suggestions_evidence_length CHECK (octet_length(evidence::text) <= 65536),
    status          text NOT NULL DEFAULT 'new' CONSTRAINT suggestions_status_is_known CHECK (status IN ('new', 'added', 'dismissed')),
    added_prompt_id uuid,
    expires_at      timestamptz,
    created_at      timestamptz NOT NULL DEFAULT now(),
    updated_at      timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT suggestions_brand_id_fkey FOREIGN KEY (brand_id) REFERENCES public.brands ON DELETE CASCADE,
    CONSTRAINT suggestions_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations ON DELETE CASCADE,
    CONSTRAINT suggestions_added_prompt_id_fkey FOREIGN KEY (added_prompt_id) REFERENCES public.prompts ON DELETE SET NULL,
    CONSTRAINT suggestions_brand_id_kind_text_key UNIQUE (brand_id, kind, text)
);
CREATE INDEX suggestions_organization_id_idx ON public.suggestions (organization_id);
CREATE INDEX suggestions_added_prompt_id_idx ON public.suggestions (added_prompt_id);
COMMENT ON TABLE public.suggestions IS 'What a brand might ask or do next, and why.';
COMMENT ON COLUMN public.suggestions.added_prompt_id IS 'The prompt that was made of it, one of the same brand.';

-- As private.fill_from_brand; the prompt is the brand's.
CREATE FUNCTION private.fill_suggestion() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $$
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
$$;

CALL private.anchor('public.suggestions', 'fill_suggestion');
CREATE TRIGGER fill_added BEFORE UPDATE ON public.suggestions -- not when a deleted prompt leaves null
    FOR EACH ROW WHEN (OLD.added_prompt_id IS DISTINCT FROM NEW.added_prompt_id AND NEW.added_prompt_id IS NOT NULL)
    EXECUTE FUNCTION private.fill_suggestion();

CALL private.protect('public.suggestions');
CALL private.admit('public.suggestions', 'viewer', 'member');
