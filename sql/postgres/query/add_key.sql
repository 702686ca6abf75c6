-- add_key: adds a key of a member of the organization, and its hash.
WITH added AS (
    INSERT INTO public.api_keys (organization_id, user_id, name, prefix, scopes, expires_at)
    SELECT
        m.organization_id,
        m.user_id,
        $3::text,
        $5::text,
        $6::text[],
        $7::timestamptz
    FROM public.members AS m
    WHERE m.organization_id = $1::uuid
      AND m.user_id = $2::uuid
    RETURNING *
),
hashed AS (
    INSERT INTO private.api_key_hashes (api_key_id, hash)
    SELECT
        k.id,
        $4::bytea
    FROM added AS k
)
SELECT
    k.id,
    k.organization_id,
    k.user_id,
    u.email::text AS email,
    k.name,
    k.prefix,
    k.scopes,
    k.created_at,
    k.expires_at,
    k.last_used_at,
    k.revoked_at
FROM added AS k
JOIN private.users AS u ON u.id = k.user_id
