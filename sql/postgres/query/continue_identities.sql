-- continue_identities: lets every identity column go on after its largest value.
DO $$
DECLARE
    of   record;
    last bigint;
BEGIN
    FOR of IN
        SELECT a.attrelid::regclass AS name, a.attname AS field
        FROM pg_catalog.pg_attribute AS a
        JOIN pg_catalog.pg_class AS c ON c.oid = a.attrelid
        JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
        WHERE n.nspname IN ('public', 'private') AND c.relkind = 'r' AND a.attidentity != ''
    LOOP
        EXECUTE format('SELECT max(%I) FROM %s', of.field, of.name) INTO last;
        PERFORM setval(pg_get_serial_sequence(of.name::text, of.field), coalesce(last, 1), last IS NOT NULL);
    END LOOP;
END
$$
