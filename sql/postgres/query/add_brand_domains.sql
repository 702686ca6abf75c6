-- add_brand_domains: adds domains that a brand lacks; the first of a brand without any is the primary one. A
-- microsecond between them keeps their order.
INSERT INTO public.brand_domains (brand_id, domain, is_primary, created_at)
SELECT
    $1,
    domain,
    place = 1 AND NOT EXISTS (SELECT FROM public.brand_domains AS d WHERE d.brand_id = $1),
    now() + place * INTERVAL '1 microsecond'
FROM unnest(private.domains_of($2)) WITH ORDINALITY AS input (domain, place)
ON CONFLICT (brand_id, domain) DO NOTHING
