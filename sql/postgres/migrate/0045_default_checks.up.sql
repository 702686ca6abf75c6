-- A brand without brand_platforms is asked on default platforms; its checks have no row there.
CREATE TABLE private.default_checks (
    brand_id        uuid CONSTRAINT default_checks_pkey PRIMARY KEY CONSTRAINT default_checks_brand_id_fkey REFERENCES public.brands ON DELETE CASCADE,
    last_checked_at timestamptz,
    next_check_at   timestamptz NOT NULL,
    created_at      timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE private.default_checks IS 'When brands without brand_platforms were asked on the default platforms, and are next.';
COMMENT ON COLUMN private.default_checks.last_checked_at IS 'Null: never, or no default platform can be asked.';
CALL private.protect('private.default_checks', 'SELECT, INSERT, UPDATE');
