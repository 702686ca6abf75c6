-- The login that the API has, and the roles that callers take.
DO $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'rest_login') THEN
    CREATE ROLE rest_login LOGIN NOINHERIT PASSWORD 'login';
    CREATE ROLE rest_anon NOLOGIN;
    CREATE ROLE rest_writer NOLOGIN;
    GRANT rest_anon, rest_writer TO rest_login;
  END IF;
END $$;
