-- sites_version: a number that differs after any change of the brands or their domains.
SELECT coalesce(sum(hashtextextended(id::text, revision)), 0)::text AS version
FROM public.brands
