-- set_role: sets the role of the user with the email $1 in their organization.
UPDATE public.members
SET role = $2::text
WHERE user_id = (SELECT id FROM private.users WHERE email OPERATOR(private.=) $1::text::private.citext)
RETURNING user_id
