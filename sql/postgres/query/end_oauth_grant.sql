-- end_oauth_grant: ends the grant $1, with all of its tokens.
DELETE FROM private.oauth_grants
WHERE id = $1
