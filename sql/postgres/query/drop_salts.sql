-- drop_salts: deletes the salts of days that ended an hour ago, and any that is 47 hours old. Deleted rows would stay
-- in their pages: TRUNCATE removes the file, and the other salts go into a new one. A long reader, such as pg_dump,
-- makes this fail after a second, because other readers wait behind it.
DO $$
DECLARE
    expired date[] := ARRAY(
        SELECT day
        FROM private.visitor_salts
        WHERE day + interval '25 hours' <= now() AT TIME ZONE 'UTC'
           OR made_at <= now() - interval '47 hours');
    remaining private.visitor_salts[];
BEGIN
    IF expired = '{}' THEN
        RETURN;
    END IF;
    SET LOCAL lock_timeout = '1s';
    LOCK TABLE private.visitor_salts;
    remaining := ARRAY(SELECT s FROM private.visitor_salts AS s WHERE day <> ALL (expired));
    TRUNCATE private.visitor_salts;
    INSERT INTO private.visitor_salts SELECT * FROM unnest(remaining);
END
$$
