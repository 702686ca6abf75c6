CREATE TABLE public.brand_platforms (
    id              uuid DEFAULT gen_random_uuid() CONSTRAINT brand_platforms_pkey PRIMARY KEY,
    brand_id        uuid NOT NULL,
    organization_id uuid NOT NULL,
    platform        text NOT NULL CONSTRAINT brand_platforms_platform_length CHECK (octet_length(platform) BETWEEN 1 AND 200),
    is_enabled      bool NOT NULL DEFAULT true,
    check_frequency text NOT NULL DEFAULT 'daily'
                    CONSTRAINT brand_platforms_check_frequency_is_known CHECK (check_frequency IN ('hourly', 'daily', 'weekly', 'monthly', 'manual')),
    model           text CONSTRAINT brand_platforms_model_length CHECK (octet_length(model) BETWEEN 1 AND 512),
    last_checked_at timestamptz,
    next_check_at   timestamptz,
    created_at      timestamptz NOT NULL DEFAULT now(),
    updated_at      timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT brand_platforms_brand_id_fkey FOREIGN KEY (brand_id) REFERENCES public.brands ON DELETE CASCADE,
    CONSTRAINT brand_platforms_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations ON DELETE CASCADE,
    CONSTRAINT brand_platforms_brand_id_platform_model_key UNIQUE NULLS NOT DISTINCT (brand_id, platform, model)
);
CREATE INDEX brand_platforms_organization_id_idx ON public.brand_platforms (organization_id);
COMMENT ON TABLE public.brand_platforms IS 'Where and how often a brand''s prompts are asked.';
COMMENT ON COLUMN public.brand_platforms.organization_id IS 'The brand''s; filled.';
COMMENT ON COLUMN public.brand_platforms.model IS 'The requested model; null: the platform''s default.';
COMMENT ON COLUMN public.brand_platforms.last_checked_at IS 'What a client writes to it is ignored.';
COMMENT ON COLUMN public.brand_platforms.next_check_at IS 'When the brand is due; null: at once, if it was never checked.';

CREATE TRIGGER fill BEFORE INSERT ON public.brand_platforms
    FOR EACH ROW EXECUTE FUNCTION private.fill_from_brand();
-- Only the schedule writes when a brand was asked.
CREATE FUNCTION private.keep_checked() RETURNS trigger
LANGUAGE plpgsql SET search_path = '' AS $$
BEGIN
    IF current_user = 'authenticated' THEN
        NEW.last_checked_at := CASE TG_OP WHEN 'UPDATE' THEN OLD.last_checked_at END;
    END IF;
    RETURN NEW;
END
$$;

-- A new frequency clears the next check, which the schedule then computes.
CREATE FUNCTION private.reschedule() RETURNS trigger
LANGUAGE plpgsql SET search_path = '' AS $$
BEGIN
    NEW.next_check_at := NULL;
    RETURN NEW;
END
$$;

CREATE TRIGGER keep_checked BEFORE INSERT OR UPDATE OF last_checked_at ON public.brand_platforms
    FOR EACH ROW EXECUTE FUNCTION private.keep_checked();
CREATE TRIGGER reschedule BEFORE UPDATE ON public.brand_platforms
    FOR EACH ROW WHEN ((OLD.check_frequency, OLD.is_enabled) IS DISTINCT FROM (NEW.check_frequency, NEW.is_enabled))
    EXECUTE FUNCTION private.reschedule();
CALL private.anchor('public.brand_platforms');

CALL private.protect('public.brand_platforms');
CALL private.admit('public.brand_platforms', 'viewer', 'member');
