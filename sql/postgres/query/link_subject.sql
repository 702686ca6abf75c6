-- link_subject: the subject of the link of the kind $2 with the hash $1, if it works.
SELECT subject
FROM private.one_time_links
WHERE hash = $1
  AND kind = $2
  AND used_at IS NULL
  AND expires_at > now()
