-- reread_backlog: how many brands are due to be read again, and the seconds since the first was due.
SELECT
    count(*) AS brands,
    coalesce(extract(epoch FROM clock_timestamp() - min(due_at)), 0)::float8 AS seconds
FROM private.rereads
WHERE due_at <= clock_timestamp()
