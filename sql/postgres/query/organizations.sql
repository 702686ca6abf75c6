-- organizations: every organization, by name.
SELECT
    id,
    name,
    slug,
    time_zone,
    created_at
FROM public.organizations
ORDER BY
    name COLLATE "C",
    id
