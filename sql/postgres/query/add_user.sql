-- add_user: adds a user, with the id $5 unless that is null, as a member of an organization, both or neither.
WITH added AS (
    INSERT INTO private.users (id, email, password_hash)
    VALUES (coalesce($5::uuid, gen_random_uuid()), $1::text, nullif($2::text, ''))
    RETURNING *
), member AS (
    INSERT INTO public.members (organization_id, user_id, role)
    SELECT $3::uuid, id, $4::text
    FROM added
    RETURNING *
)
SELECT
    added.id,
    added.email::text AS email,
    coalesce(added.password_hash, '') AS password_hash,
    added.is_active,
    member.organization_id,
    member.role,
    added.created_at
FROM added
CROSS JOIN member
