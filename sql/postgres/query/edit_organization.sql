-- edit_organization: changes what is not null of the organization of the slug $1.
UPDATE public.organizations
SET name = coalesce($2::text, name),
    time_zone = coalesce($3::text, time_zone)
WHERE slug = $1
RETURNING id
