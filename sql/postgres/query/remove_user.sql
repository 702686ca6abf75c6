-- remove_user: deletes the user of the email $1 with their membership, sessions and keys.
DELETE FROM private.users
WHERE email OPERATOR(private.=) $1::text::private.citext
RETURNING id
