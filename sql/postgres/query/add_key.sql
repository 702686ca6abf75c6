-- add_key: stores a key of a member of the organization.
WITH added AS (
    INSERT INTO public.api_keys (organization_id, user_id, name, key_hash, prefix)
    SELECT
        m.organization_id,
        m.user_id,
        $3::text,
        $4::bytea,
        $5::text
    FROM public.members AS m
    WHERE m.organization_id = $1::uuid
      AND m.user_id = $2::uuid
    RETURNING *
)
SELECT
    k.id,
    k.organization_id,
    k.user_id,
    u.email::text AS email,
    k.name,
    k.prefix,
    k.created_at,
    k.expires_at,
    k.last_used_at,
    k.revoked_at
FROM added AS k
JOIN private.users AS u ON u.id = k.user_id
