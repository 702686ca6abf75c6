-- salts: the salts of the days $1.
SELECT
    day,
    salt
FROM private.visitor_salts
WHERE day = ANY($1::date[])
