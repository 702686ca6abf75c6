CREATE TABLE public.topics (
    id              uuid DEFAULT gen_random_uuid() CONSTRAINT topics_pkey PRIMARY KEY,
    brand_id        uuid NOT NULL,
    organization_id uuid NOT NULL,
    name            text NOT NULL CONSTRAINT topics_name_form CHECK (private.is_name(name)),
    is_active       bool NOT NULL DEFAULT true,
    created_at      timestamptz NOT NULL DEFAULT now(),
    updated_at      timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT topics_brand_id_fkey FOREIGN KEY (brand_id) REFERENCES public.brands ON DELETE CASCADE,
    CONSTRAINT topics_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations ON DELETE CASCADE,
    CONSTRAINT topics_brand_id_name_key UNIQUE (brand_id, name)
);
CREATE INDEX topics_organization_id_idx ON public.topics (organization_id);
COMMENT ON TABLE public.topics IS 'What a brand''s prompts are about, to filter figures by.';

CREATE FUNCTION private.write_topic_changes() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $$
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
$$;

CALL private.anchor('public.topics', 'fill_from_brand');
CALL private.follow('public.topics', 'write_changes', 'write_topic_changes');

CALL private.protect('public.topics');
CALL private.admit('public.topics', 'viewer', 'member');
