-- edit_organization: changes the columns whose parameter is not null, of the organization with the slug $1.
UPDATE public.organizations
SET name = coalesce($2::text, name),
    time_zone = coalesce($3::text, time_zone)
WHERE slug = $1
RETURNING id
