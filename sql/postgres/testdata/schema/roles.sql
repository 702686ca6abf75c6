-- roles: our roles, what each is and which others it may become.
SELECT
    r.rolname::text AS name,
    concat_ws(E'\n',
        format('CREATE ROLE %I %s%s%s;', r.rolname,
            CASE WHEN r.rolcanlogin THEN 'LOGIN' ELSE 'NOLOGIN' END,
            CASE WHEN r.rolinherit THEN '' ELSE ' NOINHERIT' END,
            CASE WHEN r.rolsuper OR r.rolbypassrls THEN ' -- beyond row-level security' ELSE '' END),
        (SELECT string_agg(format('GRANT %I TO %I;', g.rolname, r.rolname), E'\n' ORDER BY g.rolname)
         FROM pg_catalog.pg_auth_members AS m
         JOIN pg_catalog.pg_roles AS g ON g.oid = m.roleid
         WHERE m.member = r.oid)
    ) AS text
FROM pg_catalog.pg_roles AS r
WHERE r.rolname IN ('answerscope_owner', 'answerscope_service', 'authenticator', 'anon', 'authenticated')
ORDER BY r.rolname
