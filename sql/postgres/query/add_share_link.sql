-- add_share_link: adds a link to a brand of the organization $1, by the user $3 (nil: the command line), and its hashes.
WITH added AS (
    INSERT INTO public.share_links
        (organization_id, brand_id, created_by, title, screens, filters, embed_origins, expires_at, has_password)
    SELECT
        b.organization_id,
        b.id,
        nullif($3::uuid, '00000000-0000-0000-0000-000000000000'),
        coalesce(nullif($4::text, ''), b.name),
        $5::text[],
        $6::jsonb,
        $7::text[],
        $8::timestamptz,
        $10::text <> ''
    FROM public.brands AS b
    WHERE b.organization_id = $1::uuid
      AND b.id = $2::uuid
    RETURNING id
)
INSERT INTO private.share_link_hashes (share_link_id, hash, password_hash)
SELECT
    id,
    $9::bytea,
    nullif($10::text, '')
FROM added
RETURNING share_link_id
