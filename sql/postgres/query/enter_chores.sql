-- enter_chores: enters the chores $1 that are not known yet.
INSERT INTO private.chores (name)
SELECT unnest($1::text[])
ON CONFLICT (name) DO NOTHING
