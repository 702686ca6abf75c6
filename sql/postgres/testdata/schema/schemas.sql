-- schemas: our schemas, who may do what in them, and what new objects allow.
SELECT
    'schema ' || n.nspname AS name,
    concat_ws(E'\n',
        format('ALTER SCHEMA %I OWNER TO %I;', n.nspname, pg_get_userbyid(n.nspowner)),
        (SELECT string_agg(format('CREATE EXTENSION %I WITH SCHEMA %I;', e.extname, n.nspname), E'\n' ORDER BY e.extname)
         FROM pg_catalog.pg_extension AS e
         WHERE e.extnamespace = n.oid),
        (SELECT string_agg(format('GRANT %s ON SCHEMA %I TO %s;', g.rights, n.nspname, g.grantee), E'\n' ORDER BY g.grantee)
         FROM (SELECT
                   CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE pg_get_userbyid(a.grantee)::text END AS grantee,
                   string_agg(a.privilege_type, ', ' ORDER BY a.privilege_type) AS rights
               FROM aclexplode(n.nspacl) AS a
               WHERE a.grantee <> n.nspowner
               GROUP BY a.grantee) AS g),
        (SELECT string_agg(format('-- default of %s for new %s: %s', pg_get_userbyid(d.defaclrole),
                                  CASE d.defaclobjtype WHEN 'f' THEN 'functions' ELSE d.defaclobjtype::text END, d.defaclacl), E'\n')
         FROM pg_catalog.pg_default_acl AS d
         WHERE d.defaclnamespace = 0
           AND d.defaclrole = n.nspowner)
    ) AS text
FROM pg_catalog.pg_namespace AS n
WHERE n.nspname IN ('private', 'public')
ORDER BY n.nspname
