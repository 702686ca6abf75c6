-- use_link: uses the link of the kind $2 with the hash $1 up.
UPDATE private.one_time_links
SET used_at = now()
WHERE hash = $1
  AND kind = $2
  AND used_at IS NULL
  AND expires_at > now()
