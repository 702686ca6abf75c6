-- The maker of a link that was shown to them may have followed it: such an account proves nothing about its address.
ALTER TABLE private.one_time_links ADD COLUMN is_shown bool NOT NULL DEFAULT false;
COMMENT ON COLUMN private.one_time_links.is_shown IS 'No mail had it: who made it has seen it.';
ALTER TABLE private.users ADD COLUMN is_unproven bool NOT NULL DEFAULT false;
COMMENT ON COLUMN private.users.is_unproven IS 'Made by the link of an inviter who has seen it, and not yet proven by an identity or a reset.';
