-- sites_version: a number that is another one after any change of which brands there are and which domains they have.
SELECT coalesce(sum(hashtextextended(id::text, revision)), 0)::text AS version
FROM public.brands
