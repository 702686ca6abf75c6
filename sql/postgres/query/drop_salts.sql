-- drop_salts: deletes the salts of days that ended an hour ago, and any that is 47 hours old.
DELETE FROM private.visitor_salts
WHERE day + interval '25 hours' <= now() AT TIME ZONE 'UTC'
   OR made_at <= now() - interval '47 hours'
