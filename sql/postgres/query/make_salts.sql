-- make_salts: adds a salt to each of the days $1 without one, from the server's strong random numbers.
INSERT INTO private.visitor_salts (day, salt)
SELECT
    day,
    substring(sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())) FOR 16)
FROM unnest($1::date[]) AS days (day)
ORDER BY day
ON CONFLICT (day) DO NOTHING
