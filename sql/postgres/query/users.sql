-- users: the users of the organization $1, by email.
SELECT
    u.id,
    u.email::text AS email,
    m.role,
    u.is_active,
    u.last_sign_in_at,
    u.created_at
FROM private.users AS u
JOIN public.members AS m ON m.user_id = u.id
WHERE m.organization_id = $1
ORDER BY u.email
