-- remove_brand_domains: removes domains from a brand.
DELETE FROM public.brand_domains
WHERE brand_id = $1::uuid
  AND domain = ANY (private.domains_of($2::text[]))
