-- sites: every brand with its domains, by id; domains by their bytes.
SELECT
    b.id AS brand_id,
    b.organization_id,
    coalesce(d.domains, '{}') AS domains
FROM public.brands AS b
LEFT JOIN (
    SELECT
        brand_id,
        array_agg(domain ORDER BY domain COLLATE "C") AS domains
    FROM public.brand_domains
    GROUP BY brand_id
) AS d ON d.brand_id = b.id
ORDER BY b.id
