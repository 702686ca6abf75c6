-- continue_identities: sets the sequence of every numbered column to continue after the largest value.
DO $$
DECLARE
    identity record;
    last     bigint;
BEGIN
    FOR identity IN -- sequences of identity columns, and of bigserial ones such as River's
        SELECT d.objid::regclass AS sequence, c.oid::regclass AS name, a.attname AS field
        FROM pg_catalog.pg_depend AS d
        JOIN pg_catalog.pg_class AS s ON s.oid = d.objid AND s.relkind = 'S'
        JOIN pg_catalog.pg_class AS c ON c.oid = d.refobjid AND c.relkind = 'r'
        JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
        JOIN pg_catalog.pg_attribute AS a ON a.attrelid = c.oid AND a.attnum = d.refobjsubid
        WHERE d.classid = 'pg_class'::regclass AND d.refclassid = 'pg_class'::regclass AND d.deptype IN ('a', 'i')
          AND n.nspname IN ('public', 'private')
    LOOP
        EXECUTE format('SELECT max(%I) FROM %s', identity.field, identity.name) INTO last;
        PERFORM setval(identity.sequence, coalesce(last, 1), last IS NOT NULL);
    END LOOP;
END
$$
