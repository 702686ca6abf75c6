CREATE TABLE public.prompt_sets (
    id              uuid DEFAULT gen_random_uuid() CONSTRAINT prompt_sets_pkey PRIMARY KEY,
    brand_id        uuid NOT NULL,
    organization_id uuid NOT NULL,
    name            text NOT NULL CONSTRAINT prompt_sets_name_form CHECK (private.is_name(name)),
    is_active       bool NOT NULL DEFAULT true,
    created_at      timestamptz NOT NULL DEFAULT now(),
    updated_at      timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT prompt_sets_brand_id_fkey FOREIGN KEY (brand_id) REFERENCES public.brands ON DELETE CASCADE,
    CONSTRAINT prompt_sets_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations ON DELETE CASCADE
);
CREATE INDEX prompt_sets_brand_id_idx ON public.prompt_sets (brand_id);
CREATE INDEX prompt_sets_organization_id_idx ON public.prompt_sets (organization_id);
COMMENT ON TABLE public.prompt_sets IS 'Prompts that are kept together.';

CALL private.anchor('public.prompt_sets', 'fill_from_brand');

CALL private.protect('public.prompt_sets');
CALL private.admit('public.prompt_sets', 'viewer', 'member');
