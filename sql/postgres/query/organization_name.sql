-- organization_name: the name of the organization $1.
SELECT name
FROM public.organizations
WHERE id = $1
