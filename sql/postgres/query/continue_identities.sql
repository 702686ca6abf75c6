-- continue_identities: lets every column that a sequence of its own numbers go on after its largest value.
DO $$
DECLARE
    of   record;
    last bigint;
BEGIN
    FOR of IN -- sequences of identity columns, and of bigserial ones such as River's
        SELECT d.objid::regclass AS sequence, c.oid::regclass AS name, a.attname AS field
        FROM pg_catalog.pg_depend AS d
        JOIN pg_catalog.pg_class AS s ON s.oid = d.objid AND s.relkind = 'S'
        JOIN pg_catalog.pg_class AS c ON c.oid = d.refobjid AND c.relkind = 'r'
        JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
        JOIN pg_catalog.pg_attribute AS a ON a.attrelid = c.oid AND a.attnum = d.refobjsubid
        WHERE d.classid = 'pg_class'::regclass AND d.refclassid = 'pg_class'::regclass AND d.deptype IN ('a', 'i')
          AND n.nspname IN ('public', 'private')
    LOOP
        EXECUTE format('SELECT max(%I) FROM %s', of.field, of.name) INTO last;
        PERFORM setval(of.sequence, coalesce(last, 1), last IS NOT NULL);
    END LOOP;
END
$$
