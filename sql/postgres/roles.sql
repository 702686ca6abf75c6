-- The roles, and what each may do in this database before there is a table. Run
-- before every migration, because roles belong to the whole cluster: a database
-- restored elsewhere finds none. Databases that migrate at once race for them, so
-- the second run keeps what is there.
--
--   answerscope_owner    owns the schema; migrations run as it
--   answerscope_service  our own processes: every row, by a policy of each table
--   answerscope          where there is such a login, the one of our own processes, which migrates nothing
--   authenticator        whom a gateway signs in as, to become one of the next two
--   anon, authenticated  clients of /rest/v1
DO $roles$
DECLARE
    name   text;
    member text;
    may    text := CASE WHEN current_setting('server_version_num')::int >= 160000 THEN 'SET' ELSE 'MEMBER' END;
BEGIN
    FOREACH name IN ARRAY ARRAY['answerscope_owner', 'answerscope_service', 'authenticator', 'anon', 'authenticated'] LOOP
        CONTINUE WHEN EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = name);
        BEGIN
            EXECUTE format('CREATE ROLE %I NOLOGIN NOINHERIT', name);
        EXCEPTION WHEN duplicate_object OR unique_violation THEN
            NULL;
        END;
    END LOOP;
    FOR member, name IN
        VALUES ('authenticator', 'anon'), ('authenticator', 'authenticated'),
               (current_user::text, 'answerscope_owner'), (current_user::text, 'answerscope_service'),
               (current_user::text, 'anon'), (current_user::text, 'authenticated'),
               ('answerscope', 'answerscope_service'), ('answerscope', 'anon'), ('answerscope', 'authenticated')
    LOOP
        CONTINUE WHEN NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = member);
        FOR attempt IN 1..10 LOOP
            EXIT WHEN pg_has_role(member, name, may);
            BEGIN
                EXECUTE format('GRANT %I TO %I', name, member);
            EXCEPTION WHEN unique_violation OR internal_error THEN -- "tuple concurrently updated"
                NULL;
            END;
        END LOOP;
    END LOOP;
    EXECUTE format('GRANT CREATE ON DATABASE %I TO answerscope_owner', current_database());
END
$roles$;

CREATE SCHEMA IF NOT EXISTS private AUTHORIZATION answerscope_owner;
GRANT CREATE, USAGE ON SCHEMA public TO answerscope_owner;
GRANT USAGE ON SCHEMA public TO answerscope_service, anon, authenticated;
REVOKE CREATE ON SCHEMA public FROM public;
