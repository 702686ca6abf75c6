CREATE TABLE public.annotations (
    id              uuid DEFAULT gen_random_uuid() CONSTRAINT annotations_pkey PRIMARY KEY,
    brand_id        uuid,
    organization_id uuid NOT NULL,
    day             date NOT NULL CONSTRAINT annotations_day_is_finite CHECK (isfinite(day)),
    day_to          date CONSTRAINT annotations_day_to_order CHECK (day_to >= day AND isfinite(day_to)),
    text            text NOT NULL
                    CONSTRAINT annotations_text_length CHECK (char_length(text) <= 280)
                    CONSTRAINT annotations_text_form
                    CHECK (btrim(text) <> '' AND text !~ '[\u0001-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]'),
    url             text
                    CONSTRAINT annotations_url_length CHECK (char_length(url) <= 2000)
                    CONSTRAINT annotations_url_is_http CHECK (url ~* '^https?://[^/?#[:space:][:cntrl:]][^[:space:][:cntrl:]]*$'),
    created_by      uuid,
    created_at      timestamptz NOT NULL DEFAULT now(),
    updated_at      timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT annotations_brand_id_fkey FOREIGN KEY (brand_id) REFERENCES public.brands ON DELETE CASCADE,
    CONSTRAINT annotations_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations ON DELETE CASCADE,
    CONSTRAINT annotations_created_by_fkey FOREIGN KEY (created_by) REFERENCES private.users ON DELETE SET NULL
);
CREATE INDEX annotations_brand_id_idx ON public.annotations (brand_id, day);
CREATE INDEX annotations_organization_id_idx ON public.annotations (organization_id, day);
CREATE INDEX annotations_created_by_idx ON public.annotations (created_by);
COMMENT ON TABLE public.annotations IS 'Notes on days, which charts show: what happened then.';
COMMENT ON COLUMN public.annotations.brand_id IS 'Null: every brand of the organization.';
COMMENT ON COLUMN public.annotations.organization_id IS 'The brand''s; without a brand the caller''s; filled.';
COMMENT ON COLUMN public.annotations.day IS 'A UTC day, as in figures.';
COMMENT ON COLUMN public.annotations.day_to IS 'The last day; null: day alone.';
COMMENT ON COLUMN public.annotations.created_by IS 'The user who added it; filled. Null: the user was deleted, or it was no user.';

CREATE FUNCTION private.fill_annotation() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $$
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
$$;

CREATE FUNCTION private.log_annotation() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $$
DECLARE
    r public.annotations := CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
BEGIN
    PERFORM private.log_audit(
        'annotation ' || CASE TG_OP WHEN 'INSERT' THEN 'added' WHEN 'DELETE' THEN 'deleted' ELSE 'changed' END,
        r.organization_id, r.day || ' ' || r.text,
        (SELECT coalesce(jsonb_object_agg(key, jsonb_build_array(before.value, after.value)), '{}')
         FROM jsonb_each(to_jsonb(OLD)) AS before
         JOIN jsonb_each(to_jsonb(NEW)) AS after USING (key)
         WHERE before.value <> after.value AND key <> 'updated_at'));
    RETURN NULL;
END
$$;

CREATE TRIGGER fill BEFORE INSERT ON public.annotations
    FOR EACH ROW EXECUTE FUNCTION private.fill_annotation();
CREATE TRIGGER stamp BEFORE INSERT OR UPDATE ON public.annotations
    FOR EACH ROW EXECUTE FUNCTION private.stamp();
CREATE TRIGGER log_audit AFTER INSERT OR DELETE OR UPDATE OF day, day_to, text, url ON public.annotations
    FOR EACH ROW EXECUTE FUNCTION private.log_annotation();

CALL private.protect('public.annotations', 'SELECT, INSERT, UPDATE (day, day_to, text, url), DELETE');
CALL private.admit('public.annotations', 'viewer', 'member', 'SELECT, INSERT, UPDATE (day, day_to, text, url), DELETE');
