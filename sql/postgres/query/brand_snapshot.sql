-- brand_snapshot: a brand with the names by which its answers are read, at one moment.
SELECT
    b.organization_id,
    b.id AS brand_id,
    b.name,
    b.slug,
    b.aliases,
    ARRAY(
        SELECT d.domain
        FROM public.brand_domains AS d
        WHERE d.brand_id = b.id
        ORDER BY d.is_primary DESC, d.created_at, d.id
    ) AS domains,
    b.revision::bigint AS revision,
    coalesce(
        (SELECT jsonb_agg(
                    jsonb_build_object('id', c.id, 'name', c.name, 'aliases', c.aliases, 'domains', c.domains)
                    ORDER BY c.created_at, c.id)
         FROM public.competitors AS c
         WHERE c.brand_id = b.id),
        '[]') AS competitors
FROM public.brands AS b
WHERE b.id = $1
