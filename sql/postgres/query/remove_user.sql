-- remove_user: deletes the user with the email $1 and their membership, sessions and keys.
DELETE FROM private.users
WHERE email OPERATOR(private.=) $1::text::private.citext
RETURNING id
