-- user_by_email: the user with the email, in any case.
SELECT
    u.id,
    u.email::text AS email,
    coalesce(u.password_hash, '') AS password_hash,
    u.is_active,
    m.organization_id,
    m.role,
    u.created_at
FROM private.users AS u
JOIN public.members AS m ON m.user_id = u.id
WHERE u.email OPERATOR(private.=) $1::text::private.citext
