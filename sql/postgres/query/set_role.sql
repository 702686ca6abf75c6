-- set_role: gives the user of the email $1 the role $2 in their organization.
UPDATE public.members
SET role = $2::text
WHERE user_id = (SELECT id FROM private.users WHERE email OPERATOR(private.=) $1::text::private.citext)
RETURNING user_id
