-- end_managed_oauth_grant: ends the grant $1 as end_oauth_grant does, if it is of the user $3 in the organization $2, or
-- of any user there if $4.
DELETE FROM private.oauth_grants
WHERE id = $1
  AND organization_id = $2
  AND (user_id = $3 OR $4::boolean)
