CREATE TABLE public.content_briefs (
    id              uuid DEFAULT gen_random_uuid() CONSTRAINT content_briefs_pkey PRIMARY KEY,
    brand_id        uuid NOT NULL,
    organization_id uuid NOT NULL,
    suggestion_id   uuid,
    title           text NOT NULL CONSTRAINT content_briefs_title_length CHECK (octet_length(title) <= 512 AND btrim(title) <> ''),
    body            text NOT NULL DEFAULT '' CONSTRAINT content_briefs_body_length CHECK (octet_length(body) <= 262144),
    evidence        jsonb NOT NULL DEFAULT '{}' CONSTRAINT content_briefs_evidence_length CHECK (octet_length(evidence::text) <= 65536),
    status          text NOT NULL DEFAULT 'draft' CONSTRAINT content_briefs_status_is_known CHECK (status IN ('draft', 'sent', 'done')),
    created_at      timestamptz NOT NULL DEFAULT now(),
    updated_at      timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT content_briefs_brand_id_fkey FOREIGN KEY (brand_id) REFERENCES public.brands ON DELETE CASCADE,
    CONSTRAINT content_briefs_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations ON DELETE CASCADE,
    CONSTRAINT content_briefs_suggestion_id_fkey FOREIGN KEY (suggestion_id) REFERENCES public.suggestions ON DELETE SET NULL
);
CREATE INDEX content_briefs_brand_id_idx ON public.content_briefs (brand_id);
CREATE INDEX content_briefs_organization_id_idx ON public.content_briefs (organization_id);
CREATE INDEX content_briefs_suggestion_id_idx ON public.content_briefs (suggestion_id);
COMMENT ON TABLE public.content_briefs IS 'What is to be written so that answers name the brand.';
COMMENT ON COLUMN public.content_briefs.suggestion_id IS 'What it came from, one of the same brand.';

-- As private.fill_from_brand; the suggestion is the brand's.
CREATE FUNCTION private.fill_content_brief() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $$
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
$$;

CALL private.anchor('public.content_briefs', 'fill_content_brief');
CREATE TRIGGER fill_suggestion BEFORE UPDATE ON public.content_briefs -- not when a deleted suggestion leaves null
    FOR EACH ROW WHEN (OLD.suggestion_id IS DISTINCT FROM NEW.suggestion_id AND NEW.suggestion_id IS NOT NULL)
    EXECUTE FUNCTION private.fill_content_brief();

CALL private.protect('public.content_briefs');
CALL private.admit('public.content_briefs', 'viewer', 'member');

CREATE FUNCTION private.check_brief_status() RETURNS trigger
LANGUAGE plpgsql SET search_path = '' AS $$
BEGIN
    RAISE EXCEPTION 'status: a brief goes from draft to sent, and from sent to done, not from % to %', OLD.status, NEW.status
        USING ERRCODE = 'check_violation', TABLE = TG_TABLE_NAME, SCHEMA = TG_TABLE_SCHEMA;
END
$$;
CREATE TRIGGER check_status BEFORE UPDATE ON public.content_briefs
    FOR EACH ROW WHEN (OLD.status <> NEW.status AND (OLD.status, NEW.status) NOT IN (('draft', 'sent'), ('sent', 'done')))
    EXECUTE FUNCTION private.check_brief_status();

-- A suggestion that the caller does not see has no brand, so it is refused as any row below a foreign brand.
CREATE FUNCTION public.create_content_brief(p_suggestion_id uuid) RETURNS public.content_briefs
LANGUAGE sql VOLATILE SECURITY INVOKER SET search_path = '' AS $$
    INSERT INTO public.content_briefs (brand_id, suggestion_id, title, body, evidence)
    SELECT (SELECT s.brand_id FROM public.suggestions AS s WHERE s.id = p_suggestion_id), p_suggestion_id,
           brief ->> 'title', brief ->> 'body', brief -> 'evidence'
    FROM (SELECT nullif(current_setting('request.prepared', true), '')::jsonb AS brief) AS prepared
    RETURNING *
$$;
COMMENT ON FUNCTION public.create_content_brief(uuid) IS
    'Adds the brief of a suggestion, which the server has written before the call: the setting request.prepared.';
GRANT EXECUTE ON FUNCTION public.create_content_brief(uuid) TO answerscope_service, authenticated;
GRANT EXECUTE ON FUNCTION private.slug_of(text, text) TO answerscope_service; -- names the file of a brief
