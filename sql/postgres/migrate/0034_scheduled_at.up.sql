-- A brand is late only by the schedule that it has now.
ALTER TABLE public.brand_platforms ADD COLUMN scheduled_at timestamptz NOT NULL DEFAULT now();
COMMENT ON COLUMN public.brand_platforms.scheduled_at IS 'When it was added, enabled or disabled, or got its frequency.';

ALTER TABLE public.brand_platforms DISABLE TRIGGER USER;
UPDATE public.brand_platforms SET scheduled_at = created_at;
ALTER TABLE public.brand_platforms ENABLE TRIGGER USER;

CREATE OR REPLACE FUNCTION private.reschedule() RETURNS trigger
LANGUAGE plpgsql SET search_path = '' AS $$
BEGIN
    NEW.next_check_at := NULL;
    NEW.scheduled_at := now();
    RETURN NEW;
END
$$;
