-- organization_count: the number of all organizations, or of one.
SELECT count(*)
FROM public.organizations
WHERE $1::uuid IS NULL
   OR id = $1
