-- user_emails: the emails of an organization's users, in order.
SELECT u.email::text AS email
FROM private.users AS u
JOIN public.members AS m ON m.user_id = u.id
WHERE m.organization_id = $1
ORDER BY u.email
