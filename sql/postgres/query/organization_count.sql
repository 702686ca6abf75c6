-- organization_count: how many organizations there are, of one or of all.
SELECT count(*)
FROM public.organizations
WHERE $1::uuid IS NULL
   OR id = $1
