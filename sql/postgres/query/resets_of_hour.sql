-- resets_of_hour: how many links for another password were made for the user $1 within the last hour.
SELECT count(*)
FROM private.one_time_links
WHERE subject = $1
  AND kind = 'password_reset'
  AND created_at > now() - INTERVAL '1 hour'
