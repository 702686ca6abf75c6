-- add_organization: adds an organization; an empty slug is made from its name.
INSERT INTO public.organizations (name, slug)
VALUES ($1, $2)
RETURNING
    id,
    name,
    slug,
    time_zone,
    created_at
